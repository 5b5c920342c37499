extension SchemaChange {
    /// The stable name of a kind of change, as reports spell it.
    ///
    /// Open: later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An object type is new.
        public static let typeAdded = Self(rawValue: "type-added")
        /// An object type is gone.
        public static let typeRemoved = Self(rawValue: "type-removed")
        /// The type of a collection or of an embedded object has another title.
        public static let typeRenamed = Self(rawValue: "type-renamed")
        /// The documents of a type have moved to another collection.
        public static let collectionMoved = Self(rawValue: "collection-moved")
        /// A property is new, and documents must have it.
        public static let requiredAdded = Self(rawValue: "required-added")
        /// A property is new, and documents may have it.
        public static let optionalAdded = Self(rawValue: "optional-added")
        /// A property is gone; so is one that was renamed, unless the operator says that it was.
        public static let propertyRemoved = Self(rawValue: "property-removed")
        /// A property has another name, as the operator says.
        public static let propertyRenamed = Self(rawValue: "property-renamed")
        /// A property has another type.
        public static let propertyTypeChanged = Self(rawValue: "property-type-changed")
        /// A property that documents may have is one that they must have.
        public static let optionalToRequired = Self(rawValue: "optional-to-required")
        /// A property that documents must have is one that they may have.
        public static let requiredToOptional = Self(rawValue: "required-to-optional")
        /// A property holds many values in place of one, or one in place of many.
        public static let cardinalityChanged = Self(rawValue: "cardinality-changed")
        /// A list is a set, or a set a list.
        public static let listSetChanged = Self(rawValue: "list-set-changed")
        /// The elements of a list or a set, or the values of a dictionary, have another type.
        public static let elementTypeChanged = Self(rawValue: "element-type-changed")
        /// The elements of a list or a set, or the values of a dictionary, may be null now, or may no longer.
        public static let elementNullabilityChanged = Self(rawValue: "element-nullability-changed")
        /// An embedded object has become a link to an object, or a link an embedded object.
        public static let embeddingChanged = Self(rawValue: "embedding-changed")
        /// A property has become a link.
        public static let linkAdded = Self(rawValue: "link-added")
        /// A property is a link no longer.
        public static let linkRemoved = Self(rawValue: "link-removed")
        /// A link leads to another type.
        public static let linkRetargeted = Self(rawValue: "link-retargeted")
        /// The primary key is gone, or has another name.
        public static let idRemoved = Self(rawValue: "id-removed")
        /// The primary key has another type.
        public static let idTypeChanged = Self(rawValue: "id-type-changed")
        /// A constraint refuses values that it let in.
        public static let constraintTightened = Self(rawValue: "constraint-tightened")
        /// A constraint lets in values that it refused.
        public static let constraintLoosened = Self(rawValue: "constraint-loosened")
        /// An object may have other fields than the declared ones, or may no longer.
        public static let additionalPropertiesChanged = Self(rawValue: "additional-properties-changed")
        /// Documents are divided by another field, or by one of another type.
        public static let partitionKeyChanged = Self(rawValue: "partition-key-changed")
        /// Clients may query by a field.
        public static let queryableAdded = Self(rawValue: "queryable-added")
        /// Clients may no longer query by a field.
        public static let queryableRemoved = Self(rawValue: "queryable-removed")
        /// Another queryable field is indexed, or none.
        public static let indexedQueryableChanged = Self(rawValue: "indexed-queryable-changed")
        /// Clients choose their documents by queries in place of partitions, or the reverse.
        public static let syncModeChanged = Self(rawValue: "sync-mode-changed")
        /// A collection, or sync as a whole, belongs to another data source.
        public static let dataSourceChanged = Self(rawValue: "data-source-changed")
        /// Clients only write to a collection, or do so no longer.
        public static let asymmetricChanged = Self(rawValue: "asymmetric-changed")
        /// A property has a default that had none.
        public static let defaultAdded = Self(rawValue: "default-added")
        /// A property has another default.
        public static let defaultChanged = Self(rawValue: "default-changed")
        /// A property has lost its default.
        public static let defaultRemoved = Self(rawValue: "default-removed")
    }
}

extension SchemaChange.Code: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
