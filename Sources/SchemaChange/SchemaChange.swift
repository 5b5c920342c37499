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
    /// What the older schema has there; `nil` when it has nothing.
    public var old: Side?
    /// What the newer schema has there; `nil` when it has nothing.
    public var new: Side?
    /// What changes, as one clause that names fields and types, never a value: `email becomes required`.
    public var description: String

    /// What a change does to those that sync.
    public enum Verdict: String, Hashable, Sendable {
        /// Sync is terminated, and every client resets.
        case breaking
        /// The change is additive.
        case nonBreaking = "non-breaking"
    }

    /// Joins the parts.
    public init(
        kind: ChangeKind, namespace: Namespace?, path: SchemaPath, old: Side?, new: Side?, description: String
    ) {
        self.kind = kind
        self.namespace = namespace
        self.path = path
        self.old = old
        self.new = new
        self.description = description
    }

    /// The kind's stable name.
    public var code: Code { kind.code }
    /// Whether the server can apply it in place.
    public var server: Verdict { kind.server }
    /// Whether clients in the field go on working with it.
    public var client: Verdict { kind.client }
}

extension SchemaChange: CustomStringConvertible {}
