public import BSON
public import ServerSchema

/// One difference between two versions of a server schema, with its effect on sync.
///
/// In a dialect of a sync engine, a change in a collection that does not sync is not breaking.
public struct SchemaChange: Hashable, Sendable {
    /// The kind of change, with its verdicts.
    public var kind: ChangeKind
    /// The collection, by its name in the newer schema; by its name in the older schema if the newer does not have it.
    ///
    /// `nil` for a change of the whole app.
    public var namespace: Namespace?
    /// The path in the documents, with the names of the newer schema; with the names of the older schema if the newer
    /// one does not have the path.
    ///
    /// The path is the root if the change affects the collection's type as a whole, for example its title.
    public var path: SchemaPath
    /// The collection that has the documents before the newer schema is deployed; the older name if the collection
    /// moved.
    public var oldNamespace: Namespace?
    /// The path in the documents before the newer schema is deployed, with the older names of renamed fields.
    public var oldPath: SchemaPath
    /// The changed part in the older schema, at `oldPath`; `nil` if the older schema does not have it.
    public var old: Side?
    /// The changed part in the newer schema, at `path`; `nil` if the newer schema does not have it.
    public var new: Side?
    /// The position, in the newer schema's file, of the changed part or of the object that lost the part.
    ///
    /// `nil` if the newer schema has neither.
    public var place: SourceLocation?
    /// Whether the object of the newer schema that lost a field may have any fields; `false` for other changes.
    var leavesAnyFields = false
    /// The partner collection that concerns the change; `nil` if there is none.
    ///
    /// The partner collection has the documents as the newer schema describes them, or the newer schema adds it.
    public internal(set) var partner: PartnerCollection? {
        get { partners.first }
        set { partners = newValue.map { [$0] } ?? [] }
    }
    /// The partner collection, in a list, which takes little memory for a change without one.
    private var partners: [PartnerCollection] = []
    /// The unique index that is new; `nil` for any other change.
    public internal(set) var uniqueKey: UniqueKey? {
        get { uniqueKeys.first }
        set { uniqueKeys = newValue.map { [$0] } ?? [] }
    }
    private var uniqueKeys: [UniqueKey] = []
    /// A clause that says what changed, such as `email becomes required`; it never has a value of a document.
    public var description: String

    /// The effect of a change on the server or on clients.
    public enum Verdict: String, Hashable, Sendable {
        /// The server cannot apply the change in place, or installed clients fail.
        case breaking
        /// The change is additive: the server can apply it in place, and installed clients continue to work.
        case nonBreaking = "non-breaking"
        /// The change is additive because the app uses schema versioning; without schema versioning, it would be
        /// breaking.
        case versioned
        /// A partner collection serves the change: it has the documents as the new schema describes them, and the
        /// original collection keeps its schema.
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

    /// The stable name of the kind.
    public var code: Code { kind.code }
    /// The verdict for the server: whether the server can apply the change in place.
    public var server: Verdict { kind.server }
    /// The verdict for clients: whether clients that are already installed continue to work.
    public var client: Verdict { kind.client }
}

/// Changes are compared without `leavesAnyFields`, which follows from the object at `place`.
extension SchemaChange {
    /// Whether two changes are equal in all properties except `leavesAnyFields`.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.namespace == right.namespace && left.path == right.path
            && left.oldNamespace == right.oldNamespace && left.oldPath == right.oldPath && left.old == right.old
            && left.new == right.new && left.place == right.place && left.description == right.description
            && left.partner == right.partner
    }

    /// Hashes the code of the kind, the collection, the path and the position in the file.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind.code)
        hasher.combine(namespace)
        hasher.combine(path)
        hasher.combine(place)
    }
}

extension SchemaChange: CustomStringConvertible {}

extension SchemaChange {
    /// The identity by which later comparisons recognize the change.
    ///
    /// The identity depends on the name of the collection, the code, the path and ``description``. It does not depend
    /// on the database, so that it is the same in databases with different names.
    public var fingerprint: Fingerprint {
        Fingerprint(of: ["diff", namespace?.collection ?? "", code.rawValue, "\(path)", description])
    }
}

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

        /// An object type was added.
        public static let typeAdded = Self(rawValue: "type-added")
        /// An object type was removed.
        public static let typeRemoved = Self(rawValue: "type-removed")
        /// The type of a collection or of an embedded object has another title.
        public static let typeRenamed = Self(rawValue: "type-renamed")
        /// A type belongs to another collection than before.
        public static let collectionMoved = Self(rawValue: "collection-moved")
        /// A required property was added.
        public static let requiredAdded = Self(rawValue: "required-added")
        /// An optional property was added.
        public static let optionalAdded = Self(rawValue: "optional-added")
        /// A property was removed.
        ///
        /// A rename looks like a removal, too, if neither the operator nor the schemas state it.
        public static let propertyRemoved = Self(rawValue: "property-removed")
        /// A property was removed before the day until which the older schema promises it to clients.
        public static let removedBeforeDay = Self(rawValue: "removed-before-day")
        /// A property was renamed, as the operator states or two Prisma schemas show.
        public static let propertyRenamed = Self(rawValue: "property-renamed")
        /// A property has another type.
        public static let propertyTypeChanged = Self(rawValue: "property-type-changed")
        /// An optional property has become required.
        public static let optionalToRequired = Self(rawValue: "optional-to-required")
        /// A required property has become optional.
        public static let requiredToOptional = Self(rawValue: "required-to-optional")
        /// A property has many values instead of one, or one instead of many.
        public static let cardinalityChanged = Self(rawValue: "cardinality-changed")
        /// A list has become a set, or a set a list.
        public static let listSetChanged = Self(rawValue: "list-set-changed")
        /// The elements of a list or a set, or the values of a dictionary, have another type.
        public static let elementTypeChanged = Self(rawValue: "element-type-changed")
        /// The elements of a list or a set, or the values of a dictionary, can now be null, or can no longer be null.
        public static let elementNullabilityChanged = Self(rawValue: "element-nullability-changed")
        /// An embedded object has become a link to an object, or a link has become an embedded object.
        public static let embeddingChanged = Self(rawValue: "embedding-changed")
        /// A property has become a link.
        public static let linkAdded = Self(rawValue: "link-added")
        /// A property is no longer a link.
        public static let linkRemoved = Self(rawValue: "link-removed")
        /// A link leads to another type.
        public static let linkRetargeted = Self(rawValue: "link-retargeted")
        /// The primary key was removed or renamed.
        public static let idRemoved = Self(rawValue: "id-removed")
        /// The primary key has another type.
        public static let idTypeChanged = Self(rawValue: "id-type-changed")
        /// A constraint refuses values that it allowed before.
        public static let constraintTightened = Self(rawValue: "constraint-tightened")
        /// A constraint allows values that it refused before.
        public static let constraintLoosened = Self(rawValue: "constraint-loosened")
        /// The rule for undeclared fields of an object has changed.
        public static let additionalPropertiesChanged = Self(rawValue: "additional-properties-changed")
        /// The documents are divided into partitions by another field, or by a field of another type.
        public static let partitionKeyChanged = Self(rawValue: "partition-key-changed")
        /// Clients can now query by a field.
        public static let queryableAdded = Self(rawValue: "queryable-added")
        /// Clients can no longer query by a field.
        public static let queryableRemoved = Self(rawValue: "queryable-removed")
        /// The indexed queryable field was added, removed, or replaced by another field.
        public static let indexedQueryableChanged = Self(rawValue: "indexed-queryable-changed")
        /// Clients choose their documents by queries instead of partitions, or the reverse.
        public static let syncModeChanged = Self(rawValue: "sync-mode-changed")
        /// A collection, or the whole sync configuration, belongs to another data source.
        public static let dataSourceChanged = Self(rawValue: "data-source-changed")
        /// Clients now only write to a collection, or can now also read it.
        public static let asymmetricChanged = Self(rawValue: "asymmetric-changed")
        /// A property without a default now has one.
        public static let defaultAdded = Self(rawValue: "default-added")
        /// A property has another default.
        public static let defaultChanged = Self(rawValue: "default-changed")
        /// A unique index is new, so that documents may share values in it.
        public static let uniqueAdded = Self(rawValue: "unique-added")
        /// A unique index is removed.
        public static let uniqueRemoved = Self(rawValue: "unique-removed")
        /// The default of a property was removed.
        public static let defaultRemoved = Self(rawValue: "default-removed")
    }
}

extension SchemaChange.Code: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { rawValue }
}

extension SchemaChange {
    /// One version of the part of the schema that a change affects; shared by all copies of the change.
    public final class Side: Sendable {
        /// The collection with the changed part, by its name in this version; `nil` for a change of the whole app.
        public let namespace: Namespace?
        /// The path of the changed part, with the names of this version.
        public let path: SchemaPath
        /// The schema of the changed part; `nil` for a change of the sync configuration.
        public let node: SchemaNode?
        /// Whether the changed field is required in the surrounding object.
        public let isRequired: Bool
        /// The link of the changed field, or of the field's elements or values; `nil` if there is none.
        public let link: Relationship?
        /// The position of the changed part in the schema's file.
        public let location: SourceLocation

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

/// Sides are compared by their positions in a file, because a position identifies a schema.
extension SchemaChange.Side: Hashable {
    /// Whether two sides have the same position in the file, collection, path and link, and are both required or both
    /// optional.
    public static func == (left: SchemaChange.Side, right: SchemaChange.Side) -> Bool {
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
