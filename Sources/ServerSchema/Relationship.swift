public import BSON

/// A link: a field that holds the keys of documents of another collection.
///
/// Source: `relationships.json`, `semantics.md` sections 2.2 and 3.3 of the project's reference.
public struct Relationship: Hashable, Sendable {
    /// The field that holds the key, or the elements or values that do.
    public var source: SchemaPath
    /// The data source that the reference names; `nil` when it names none.
    public var service: String?
    /// The collection of the linked documents.
    public var target: Namespace
    /// The field of the linked documents that the key is compared with; `_id` under Sync.
    public var foreignKey: String
    /// Whether the field is a collection of keys.
    public var isList: Bool
    /// Where the entry stands.
    public var location: SourceLocation

    /// Joins the parts.
    public init(
        source: SchemaPath, service: String? = nil, target: Namespace, foreignKey: String = "_id", isList: Bool = false,
        location: SourceLocation
    ) {
        self.source = source
        self.service = service
        self.target = target
        self.foreignKey = foreignKey
        self.isList = isList
        self.location = location
    }
}
