public import BSON
public import ServerSchema

/// One difference between two versions of a server schema, and its effect on sync.
///
/// The verdicts apply to a collection that syncs. If it does not sync, no change of its schema is breaking.
public struct SchemaChange: Hashable, Sendable {
    /// The kind of change, with its verdicts.
    public var kind: ChangeKind
    /// The collection as the newer schema names it, or the older one if the newer has none; `nil` for a change of the
    /// app as a whole.
    public var namespace: Namespace?
    /// The path in the documents as the newer schema names it, or the older one if the newer has none; the root for a
    /// change of the type itself.
    public var path: SchemaPath
    /// The collection that holds the documents before the deploy; for a moved collection its older name.
    public var oldNamespace: Namespace?
    /// The path in the documents before the deploy, with the older names of renamed fields.
    public var oldPath: SchemaPath
    /// The older schema at `oldPath`; `nil` when it has nothing there.
    public var old: Side?
    /// The newer schema at `path`; `nil` when it has nothing there.
    public var new: Side?
    /// The position in the newer schema's file of the changed part or of the object that lost it; `nil` for neither.
    public var place: SourceLocation?
    /// The object of the newer schema that lost a field; `nil` for any other change.
    var newHolder: SchemaNode?
    /// The partner that serves the change, or the unverified partner that the change adds; `nil` if there is none.
    public internal(set) var partner: PartnerCollection?
    /// A clause that names what changes by its fields and types, never by a value: `email becomes required`.
    public var description: String

    /// The effect of a change on sync.
    public enum Verdict: String, Hashable, Sendable {
        /// Sync must be terminated, and every client resets.
        case breaking
        /// The change is additive.
        case nonBreaking = "non-breaking"
        /// The change is additive if schemas are versioned, and breaking otherwise.
        case versioned
        /// A verified partner collection serves the change, and its original keeps its schema.
        case served
    }

    /// Creates a change from its parts.
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
    /// The verdict for the server: whether it can apply the change in place.
    public var server: Verdict { kind.server }
    /// The verdict for clients: whether clients in the field continue to work.
    public var client: Verdict { kind.client }
}

/// Changes are compared without `newHolder`, because `place` identifies it.
extension SchemaChange {
    /// Whether both are the same change at the same paths.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.namespace == right.namespace && left.path == right.path
            && left.oldNamespace == right.oldNamespace && left.oldPath == right.oldPath && left.old == right.old
            && left.new == right.new && left.place == right.place && left.description == right.description
            && left.partner == right.partner
    }

    /// Hashes the kind, the collection, the path and the position in the file.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind.code)
        hasher.combine(namespace)
        hasher.combine(path)
        hasher.combine(place)
    }
}

extension SchemaChange: CustomStringConvertible {}

extension SchemaChange.Verdict {
    /// The verdict as the word that reports show.
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
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String
        /// Creates a code from the name of a kind.
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
        /// A property is gone, or was renamed and the operator does not state the rename.
        public static let propertyRemoved = Self(rawValue: "property-removed")
        /// A property has another name, as the operator states.
        public static let propertyRenamed = Self(rawValue: "property-renamed")
        /// A property has another type.
        public static let propertyTypeChanged = Self(rawValue: "property-type-changed")
        /// An optional property has become required.
        public static let optionalToRequired = Self(rawValue: "optional-to-required")
        /// A required property has become optional.
        public static let requiredToOptional = Self(rawValue: "required-to-optional")
        /// A property holds many values instead of one, or one instead of many.
        public static let cardinalityChanged = Self(rawValue: "cardinality-changed")
        /// A list has become a set, or a set a list.
        public static let listSetChanged = Self(rawValue: "list-set-changed")
        /// The elements of a list or a set, or the values of a dictionary, have another type.
        public static let elementTypeChanged = Self(rawValue: "element-type-changed")
        /// The elements of a list or a set, or the values of a dictionary, can now be null, or no longer can.
        public static let elementNullabilityChanged = Self(rawValue: "element-nullability-changed")
        /// An embedded object has become a link to an object, or a link an embedded object.
        public static let embeddingChanged = Self(rawValue: "embedding-changed")
        /// A property has become a link.
        public static let linkAdded = Self(rawValue: "link-added")
        /// A property is no longer a link.
        public static let linkRemoved = Self(rawValue: "link-removed")
        /// A link leads to another type.
        public static let linkRetargeted = Self(rawValue: "link-retargeted")
        /// The primary key is gone, or has another name.
        public static let idRemoved = Self(rawValue: "id-removed")
        /// The primary key has another type.
        public static let idTypeChanged = Self(rawValue: "id-type-changed")
        /// A constraint refuses values that it allowed before.
        public static let constraintTightened = Self(rawValue: "constraint-tightened")
        /// A constraint allows values that it refused before.
        public static let constraintLoosened = Self(rawValue: "constraint-loosened")
        /// The rule for undeclared fields of an object has changed.
        public static let additionalPropertiesChanged = Self(rawValue: "additional-properties-changed")
        /// Documents are divided among partitions by another field, or by a field of another type.
        public static let partitionKeyChanged = Self(rawValue: "partition-key-changed")
        /// Clients can now query by a field.
        public static let queryableAdded = Self(rawValue: "queryable-added")
        /// Clients can no longer query by a field.
        public static let queryableRemoved = Self(rawValue: "queryable-removed")
        /// Another queryable field is indexed than before, or none is, or there was none.
        public static let indexedQueryableChanged = Self(rawValue: "indexed-queryable-changed")
        /// Clients choose their documents by queries instead of partitions, or the reverse.
        public static let syncModeChanged = Self(rawValue: "sync-mode-changed")
        /// A collection, or sync as a whole, belongs to another data source.
        public static let dataSourceChanged = Self(rawValue: "data-source-changed")
        /// Clients now only write to a collection, or now read it too.
        public static let asymmetricChanged = Self(rawValue: "asymmetric-changed")
        /// A property without a default now has one.
        public static let defaultAdded = Self(rawValue: "default-added")
        /// A property has another default.
        public static let defaultChanged = Self(rawValue: "default-changed")
        /// A property has lost its default.
        public static let defaultRemoved = Self(rawValue: "default-removed")
    }
}

extension SchemaChange.Code: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { rawValue }
}

extension SchemaChange {
    /// The part of one version of the schema that a change affects.
    public struct Side: Sendable {
        /// The collection, as this version names it; `nil` for a change of the app as a whole.
        public var namespace: Namespace?
        /// The path of the part, as this version names it.
        public var path: SchemaPath
        /// The schema of the part; `nil` for a change of the sync configuration.
        public var node: SchemaNode?
        /// Whether the surrounding object must have the field.
        public var isRequired: Bool
        /// The link of the field, or of its elements or values; `nil` when there is none.
        public var link: Relationship?
        /// The position of the part in its file.
        public var location: SourceLocation

        /// Creates a side from its parts.
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

/// Two sides are equal when they are at the same position in a file, because that identifies a schema.
extension SchemaChange.Side: Hashable {
    /// Whether both are at the same position in the file, and are used in the same way.
    public static func == (left: Self, right: Self) -> Bool {
        left.location == right.location && left.namespace == right.namespace && left.path == right.path
            && left.isRequired == right.isRequired && left.link == right.link
    }

    /// Hashes the position in the file, the collection and the path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(location)
        hasher.combine(namespace)
        hasher.combine(path)
    }
}
