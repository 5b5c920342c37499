public import BSON

extension ServerSchema {
    /// Reads the App Services schemas, the MongoDB validators or the Prisma schema at a path.
    ///
    /// The path is one of these:
    /// - an App Services app folder of any generation (`root_config.json`, `realm_config.json`, `config.json` or
    ///   `stitch.json`)
    /// - a folder of `<database>.<collection>.json` files or `<database>/<collection>/schema.json` files
    /// - one schema file
    /// - a `.prisma` file, or a folder with such files
    /// - a contract of Prisma 8: `contract.prisma`, `contract.json`, or a migration's `ops.json`
    ///
    /// Instead of a schema, a JSON file may contain a validator (`{"$jsonSchema": …}`, or an object that contains one).
    /// All other files are ignored.
    /// - Parameters:
    ///   - path: the file or folder as the user named it.
    ///   - namespace: the collection that a single file covers; in a folder, the only collection that the caller asks
    ///     for. The other collections of the folder are then in ``neighbours``, because links may lead to them.
    ///   - name: the path that errors and locations state, if it differs from `path`.
    ///   - database: the database of a Prisma schema; `nil` to take it from `namespace` or from the schema's connection
    ///     string.
    /// - Throws: ``SchemaError`` at the first defect that makes a schema unusable.
    public static func read(
        at path: String, named name: String? = nil, namespace: Namespace? = nil, database: String? = nil
    ) throws(SchemaError) -> ServerSchema {
        let files = try SchemaFiles(at: path, named: name)
        if let prisma = try prisma(files, namespace, in: database ?? namespace?.database) { return prisma }
        var reading = SchemaReading(files: files, wanted: namespace)
        var schema = try reading.run()
        guard let namespace, files.isFolder else { return schema }
        // The other collections are needed only as the targets of links, so an error in one of them must not end the
        // reading.
        var whole = SchemaReading(files: files, wanted: nil)
        if let whole = try? whole.run() {
            schema.neighbours = whole.collections.filter { $0.namespace != namespace }
            schema.isWhole = true
        }
        return schema
    }

    /// Reads the schemas for lint, which also needs the access rules and every collection of an app.
    /// - Parameters:
    ///   - name: the path that errors and locations state, if it differs from `path`.
    ///   - namespace: the collection that a single file covers; in a folder, a collection that must exist.
    ///   - database: the database of a Prisma schema; `nil` to take it from `namespace` or from the schema's connection
    ///     string.
    /// - Throws: ``SchemaError`` at the first defect after which the reading cannot continue.
    public static func readForLint(
        at path: String, named name: String? = nil, namespace: Namespace? = nil, database: String? = nil
    ) throws(SchemaError) -> ServerSchema {
        let files = try SchemaFiles(at: path, named: name)
        let prisma = try prisma(files, nil, requiring: namespace, in: database ?? namespace?.database)
        if let prisma { return prisma }
        var reading = SchemaReading(files: files, wanted: namespace, isForLint: true)
        return try reading.run()
    }

    /// Reads the text of one schema file: an App Services schema or a MongoDB validator.
    /// - Parameters:
    ///   - text: the file's text.
    ///   - file: the path that errors and notes state.
    ///   - namespace: the collection that the schema covers.
    /// - Throws: ``SchemaError`` at the first defect that makes the schema unusable.
    public static func read(
        text: String, file: String = "schema.json", namespace: Namespace
    ) throws(SchemaError) -> ServerSchema {
        let json = try JSONParser.parse(Array(text.utf8), file: file)
        try json.limitFields()
        var schema = ServerSchema(dialect: .appServices, collections: [])
        schema.sources = [SchemaSource(path: file, text: text)]
        if let validator = try ValidatorFile(json) {
            schema.dialect = .jsonSchema
            schema.collections = [try validator.collection(namespace)]
            schema.notes = validator.notes(of: namespace)
            return schema
        }
        var reader = AppServicesReader()
        guard let root = try reader.root(json) else {
            throw SchemaError(
                .schemaMissing, at: SourceLocation(whole: file), "the schema of \(namespace) is a placeholder",
                remedy: "write its schema")
        }
        schema.collections = [CollectionSchema(namespace: namespace, root: root)]
        schema.notes = reader.notes
        return schema
    }

    /// The schema of one collection; `nil` if ``collections`` contains no schema of it.
    public subscript(namespace: Namespace) -> CollectionSchema? { collections.first { $0.namespace == namespace } }
}
