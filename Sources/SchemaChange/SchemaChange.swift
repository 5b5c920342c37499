public import BSON
public import ServerSchema

/// One difference between two versions of a server schema, and what it means for sync.
///
/// The verdicts hold for a collection that syncs; whether it does, the sync configuration says.
public struct SchemaChange: Hashable, Sendable {
    /// The collection, as the newer schema names it.
    public var namespace: Namespace
    /// The place in the documents; the root when the change is one of the type itself.
    public var path: SchemaPath
    /// The kind of change.
    public var code: Code
    /// Whether the server can apply it in place.
    public var server: Verdict
    /// Whether clients in the field go on working with it.
    public var client: Verdict
    /// Where the older schema has what changes; `nil` when it has nothing there.
    public var old: SourceLocation?
    /// Where the newer schema has what changed; `nil` when it has nothing there.
    public var new: SourceLocation?
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
        namespace: Namespace, path: SchemaPath, code: Code, server: Verdict, client: Verdict, old: SourceLocation?,
        new: SourceLocation?, description: String
    ) {
        self.namespace = namespace
        self.path = path
        self.code = code
        self.server = server
        self.client = client
        self.old = old
        self.new = new
        self.description = description
    }
}

extension SchemaChange: CustomStringConvertible {}
