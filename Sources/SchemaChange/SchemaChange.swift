public import BSON
public import ServerSchema

/// One difference between two versions of a server schema, and what it means for sync.
///
/// The verdicts hold for a collection that syncs; whether it does, the sync configuration says.
public struct SchemaChange: Hashable, Sendable {
    /// What kind of change it is, with its verdicts.
    public var kind: ChangeKind
    /// The collection, as the newer schema names it, and the older where the newer has none; `nil` for a change of the
    /// app as a whole.
    public var namespace: Namespace?
    /// The place in the documents, as the newer schema names it, and the older where the newer has none; the root when
    /// the change is one of the type itself.
    public var path: SchemaPath
    /// The collection that holds the documents before the deploy: the older name of one that moved.
    public var oldNamespace: Namespace?
    /// The place in the documents before the deploy: with the older names of what was renamed.
    public var oldPath: SchemaPath
    /// What the older schema has there; `nil` when it has nothing.
    public var old: Side?
    /// What the newer schema has there; `nil` when it has nothing.
    public var new: Side?
    /// Where to look in the newer schema: what changed, or the object that lost it; `nil` when it has neither.
    public var place: SourceLocation?
    /// The object of the newer schema that lost what went; `nil` for any other change.
    var newHolder: SchemaNode?
    /// The partner collection that it is about: one that serves it, or one that is added and not ready.
    public internal(set) var partner: PartnerCollection?
    /// What changes, as one clause that names fields and types, never a value: `email becomes required`.
    public var description: String

    /// What a change does to those that sync.
    public enum Verdict: String, Hashable, Sendable {
        /// Sync is terminated, and every client resets.
        case breaking
        /// The change is additive.
        case nonBreaking = "non-breaking"
        /// Additive where schemas are versioned, breaking elsewhere.
        case versioned
        /// Served by a verified partner collection, whose original keeps its schema.
        case served
    }

    /// Joins the parts.
    public init(
        kind: ChangeKind, namespace: Namespace?, path: SchemaPath, oldNamespace: Namespace?, oldPath: SchemaPath,
        old: Side?, new: Side?, place: SourceLocation? = nil, description: String
    ) {
        self.kind = kind
        self.namespace = namespace
        self.path = path
        self.oldNamespace = oldNamespace
        self.oldPath = oldPath
        self.old = old
        self.new = new
        self.place = place ?? new?.location
        self.description = description
    }

    /// The kind's stable name.
    public var code: Code { kind.code }
    /// Whether the server can apply it in place.
    public var server: Verdict { kind.server }
    /// Whether clients in the field go on working with it.
    public var client: Verdict { kind.client }
}

/// The object that lost something is known by where it stands.
extension SchemaChange {
    /// Whether both are the same change of the same places.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.namespace == right.namespace && left.path == right.path
            && left.oldNamespace == right.oldNamespace && left.oldPath == right.oldPath && left.old == right.old
            && left.new == right.new && left.place == right.place && left.description == right.description
            && left.partner == right.partner
    }

    /// By kind and place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind.code)
        hasher.combine(namespace)
        hasher.combine(path)
        hasher.combine(place)
    }
}

extension SchemaChange: CustomStringConvertible {}

extension SchemaChange.Verdict {
    /// The verdict for a person.
    public var word: String {
        switch self {
        case .breaking: "breaking"
        case .versioned: "versioned"
        case .served: "served"
        case .nonBreaking: "additive"
        }
    }
}

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

extension SchemaChange {
    /// What one version of a schema has at the place of a change.
    public struct Side: Sendable {
        /// The collection, as this version names it; `nil` for a change of the app as a whole.
        public var namespace: Namespace?
        /// The place, as this version names it.
        public var path: SchemaPath
        /// What the version demands there; `nil` where the change is none of a schema.
        public var node: SchemaNode?
        /// Whether the object around must have the field.
        public var isRequired: Bool
        /// Where the field, or its elements or values, link to; `nil` when they do not.
        public var link: Relationship?
        /// Where it stands.
        public var location: SourceLocation

        /// Joins the parts.
        public init(
            namespace: Namespace?, path: SchemaPath, node: SchemaNode?, isRequired: Bool = false,
            link: Relationship? = nil, location: SourceLocation
        ) {
            self.namespace = namespace
            self.path = path
            self.node = node
            self.isRequired = isRequired
            self.link = link
            self.location = location
        }
    }
}

/// Two sides are the same when they stand at the same place: a node is known by where it was read.
extension SchemaChange.Side: Hashable {
    /// Whether both stand at the same place.
    public static func == (left: Self, right: Self) -> Bool {
        left.location == right.location && left.namespace == right.namespace && left.path == right.path
            && left.isRequired == right.isRequired && left.link == right.link
    }

    /// By the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(location)
        hasher.combine(namespace)
        hasher.combine(path)
    }
}
