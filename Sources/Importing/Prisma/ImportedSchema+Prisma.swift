import BSON
package import ServerSchema

extension ImportedSchema {
    /// Makes the validator of one model of a Prisma schema or contract.
    ///
    /// It accepts the documents that a client of Prisma 6 can read; for a contract, it is Prisma's own.
    /// - Parameters:
    ///   - path: a `.prisma` file, a folder of such files, or a contract of Prisma 8.
    ///   - name: the name of the model, or of its collection; `nil` for the schema's only model.
    ///   - writes: whether the validator accepts the documents that the client writes instead, and no fields that the
    ///     model does not name (`closed`) or any (`open`).
    /// - Throws: ``SchemaError`` if the schema cannot be read, has no model of this name, or has several and no name is
    ///   given.
    package init(prismaAt path: String, model name: String?, writes: Writes? = nil) throws(SchemaError) {
        // A validator does not depend on the name of the database.
        var schema = try ServerSchema.read(at: path, database: "import")
        guard schema.dialect == .prisma || schema.isContract else {
            throw SchemaError(
                .unsupported, at: SourceLocation(whole: path), "the folder holds no Prisma schema",
                remedy: "import one file of it")
        }
        if let writes { schema = schema.written(isClosed: writes == .closed) }
        let collection = try Self.choose(name, of: schema, at: path)
        var (translation, root) = (PrismaValidator(), collection.root.jsonSchema)
        if collection.dialect == .prisma { root = try translation.root(collection.root).document }
        try self.init(
            name: collection.root.title, schema: root, notes: translation.notes, at: collection.root.location)
    }

    /// The fields that a validator of the documents that a client writes allows beside those of the model.
    package enum Writes: String, CaseIterable, Sendable {
        case open, closed
    }

    private static func choose(
        _ name: String?, of schema: ServerSchema, at path: String
    ) throws(SchemaError) -> CollectionSchema {
        let names = schema.collections.map { $0.root.title ?? $0.namespace.collection }
        if let name {
            let found = schema.collections.first { $0.root.title == name || $0.namespace.collection == name }
            if let found { return found }
            throw SchemaError(
                .schemaMissing, at: SourceLocation(whole: path), "there is no model \"\(name)\" here",
                remedy: Spelling.hint(for: name, among: names) ?? "there are \(names.joined(separator: ", "))")
        }
        guard let first = schema.collections.first, schema.collections.count == 1 else {
            throw SchemaError(
                .schemaMissing, at: SourceLocation(whole: path), "the schema has \(names.count) models",
                remedy: "choose one with --schema: \(names.joined(separator: ", "))")
        }
        return first
    }
}
