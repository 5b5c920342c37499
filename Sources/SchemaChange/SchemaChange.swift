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
