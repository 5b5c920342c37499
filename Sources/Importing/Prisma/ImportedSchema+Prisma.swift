import BSON
package import ServerSchema

extension ImportedSchema {
    /// Makes the validator of one model of a Prisma schema; it accepts the documents that a Prisma client can read.
    /// - Parameters:
    ///   - path: a `.prisma` file, or a folder of such files.
    ///   - name: the name of the model, or of its collection; `nil` for the schema's only model.
    /// - Throws: ``SchemaError`` if the schema cannot be read, has no model of this name, or has several and no name is
    ///   given.
    package init(prismaAt path: String, model name: String?) throws(SchemaError) {
        // A validator does not depend on the name of the database.
        let schema = try ServerSchema.read(at: path, database: "import")
        guard schema.dialect == .prisma else {
            throw SchemaError(
                .unsupported, at: SourceLocation(whole: path), "the folder holds no Prisma schema",
                remedy: "import one file of it")
        }
        let collection = try Self.choose(name, of: schema, at: path)
        var translation = PrismaValidator()
        let root = translation.root(collection.root)
        try self.init(
            name: collection.root.title, schema: root.document, notes: translation.notes,
            at: collection.root.location)
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
