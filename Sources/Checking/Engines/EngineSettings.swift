import BSON
public import ServerSchema

/// The sync engine whose rules a check applies, and the operator's statements about the engine's clients.
public struct EngineSettings: Hashable, Sendable {
    /// The sync engine whose rules the check applies.
    public var engine: Engine
    /// A note that the version that the operator states is newer than the rules; `nil` if it is not.
    public var versionNote: String?
    /// The columns of the clients' PowerSync schema, by the collection, as `NAME` or `DATABASE.NAME`, and by the field
    /// that fills them.
    ///
    /// If the operator states none for a collection, the check derives its columns from the collection's schema.
    public var columns: [String: [String: ColumnType]] = [:]
    /// The model of ObjectBox clients; `nil` if the operator states none.
    public var model: ObjectBoxModel?

    /// Creates settings without any statement about the engine's clients.
    public init(_ engine: Engine) { self.engine = engine }

    /// The types that a column of a client's PowerSync schema can have, to which SQLite casts the column's values.
    public enum ColumnType: String, Hashable, Sendable, CaseIterable {
        case text, integer, real
    }

    /// Returns the columns that the operator states for a collection or, without any, those that follow from the types
    /// in its schema.
    func columns(of schema: CollectionSchema) -> [(name: String, type: ColumnType)] {
        let stated = columns["\(schema.namespace)"] ?? columns[schema.namespace.collection]
        if let stated { return stated.map { ($0, $1) } }
        return schema.root.properties.compactMap { property in
            let columns = Set(property.node.types.filter { $0 != .null }.map(\.column))
            guard columns.count == 1, let type = columns.first?.flatMap(\.self) else { return nil }
            return (property.name, type)
        }
    }
}

extension SchemaType {
    /// The type of a column that holds all values of the type; `nil` if no column holds all of them.
    fileprivate var column: EngineSettings.ColumnType? {
        switch self {
        case .int, .long, .bool, .timestamp: .integer
        case .double: .real
        case .string, .objectId, .date, .decimal, .uuid, .object, .array, .regex, .javascript, .symbol, .dbPointer,
            .javascriptWithScope:
            .text
        case .binData, .null, .minKey, .maxKey, .undefined, .number, .mixed: nil
        }
    }
}
