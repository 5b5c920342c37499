public import BSON
public import ServerSchema

/// The sync engine whose rules a check applies, and the operator's statements about the engine's clients.
public struct EngineSettings: Hashable, Sendable {
    /// The sync engine whose rules the check applies.
    public var engine: Engine
    /// A note that the version that the operator states is newer than the rules; `nil` if it is not.
    public var versionNote: String?
    /// The tables of the clients' PowerSync schema, as the operator states them.
    ///
    /// If the operator states no table for a collection, the check derives its columns from the collection's schema.
    public var tables: [ClientTable] = []
    /// The model of ObjectBox clients; `nil` if the operator states none.
    public var model: ObjectBoxModel?

    /// Creates settings without any statement about the engine's clients.
    public init(_ engine: Engine) { self.engine = engine }

    /// Creates settings for the engine and the version that the operator states.
    public init(_ stated: StatedEngine) { (engine, versionNote) = (stated.engine, stated.note) }
}

/// A table of the clients' PowerSync schema: the columns that the documents of one collection fill.
public struct ClientTable: Hashable, Sendable {
    /// The types that a column of a client's PowerSync schema can have.
    public enum ColumnType: String, Hashable, Sendable, CaseIterable {
        case text, integer, real
    }

    /// A column of a client's table in SQLite.
    public struct Column: Hashable, Sendable {
        /// The column's name, which is the name of the documents' top-level field.
        public var name: String
        /// The type to which SQLite casts the column's values.
        public var type: ColumnType

        /// Creates a column.
        public init(name: String, type: ColumnType) { (self.name, self.type) = (name, type) }
    }

    /// The collection whose documents fill the table, as `NAME` or `DATABASE.NAME`.
    public var collection: String
    /// The columns of the table.
    public var columns: [Column]

    /// Creates a table.
    public init(collection: String, columns: [Column]) { (self.collection, self.columns) = (collection, columns) }

    /// Whether the documents of a collection fill the table.
    public func holds(_ namespace: Namespace) -> Bool {
        collection == namespace.collection || collection == "\(namespace)"
    }
}

extension EngineSettings {
    /// Returns the columns that the operator states for a collection.
    ///
    /// If the operator states no table for the collection, returns the columns that follow from the types in its
    /// schema.
    func columns(of schema: CollectionSchema) -> [ClientTable.Column] {
        if let table = tables.first(where: { $0.holds(schema.namespace) }) { return table.columns }
        return schema.root.properties.compactMap { property in
            ClientTable.ColumnType(property.node.types).map { .init(name: property.name, type: $0) }
        }
    }
}

extension ClientTable.ColumnType {
    /// Creates the type of a column that holds the values of all given types, apart from null.
    ///
    /// `nil` if all types are null, or if no single column holds the values of all types other than null.
    init?(_ types: [SchemaType]) {
        let columns = Set(types.filter { $0 != .null }.map(Self.column))
        guard columns.count == 1, case let column?? = columns.first else { return nil }
        self = column
    }

    /// Returns the type of a column that holds all values of a schema's type; `nil` if no column holds all of them.
    private static func column(_ type: SchemaType) -> Self? {
        switch type {
        case .int, .long, .bool, .timestamp: .integer
        case .double: .real
        case .string, .objectId, .date, .decimal, .uuid, .object, .array, .regex, .javascript, .symbol, .dbPointer,
            .javascriptWithScope:
            .text
        case .binData, .null, .minKey, .maxKey, .undefined, .number, .mixed: nil
        }
    }
}
