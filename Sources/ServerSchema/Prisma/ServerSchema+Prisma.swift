internal import BSON
internal import SystemPackage

extension ServerSchema {
    /// Reads a schema of Prisma 6, or a contract of Prisma 8.
    /// - Parameters:
    ///   - namespace: the only collection that the caller asks for; the other collections become ``neighbours``. `nil`
    ///     if the caller asks for all.
    ///   - required: a collection that must exist if `namespace` is `nil`.
    ///   - database: the database of the collections; `nil` for the one that the connection string names.
    /// - Returns: The schemas; `nil` if the files are not of Prisma.
    /// - Throws: ``SchemaError`` if the files cannot be read or have errors, if they mix two versions of Prisma, if no
    ///   database is known, if the collection does not exist, or if there is no model.
    static func prisma(
        _ files: SchemaFiles, _ namespace: Namespace?, requiring required: Namespace? = nil, in database: String?
    ) throws(SchemaError) -> ServerSchema? {
        var files = files
        try files.refuseConfiguration()
        var read = try contract(&files, in: database)
        if read == nil { read = try clientSchema(&files, in: database) }
        guard var schema = read else { return nil }
        schema.sources = files.sources.sorted { $0.path < $1.path }
        if let asked = namespace ?? required, schema[asked] == nil {
            let known = schema.collections.map(\.namespace.description)
            let missing = schema.isContract ? "the contract has no validator of" : "no model has the collection"
            throw SchemaError(
                .schemaMissing, at: files.location(), "\(missing) \(asked)",
                remedy: Spelling.hint(for: asked.description, among: known)
                    ?? "there is one for \(known.joined(separator: ", "))")
        }
        guard let namespace else { return schema }
        schema.neighbours = schema.collections.filter { $0.namespace != namespace }
        schema.collections.removeAll { $0.namespace != namespace }
        return schema
    }

    private static func clientSchema(
        _ files: inout SchemaFiles, in database: String?
    ) throws(SchemaError) -> ServerSchema? {
        guard let paths = try files.prismaPaths() else { return nil }
        var sources: [SchemaSource] = []
        for path in paths { sources.append(SchemaSource(path: files.location(path).file, text: try files.text(path))) }
        if sources.count > 1 {
            let copies = Set(files.outputs(of: sources).flatMap { folder in paths.filter { $0.hasPrefix(folder) } })
            let kept = paths.indices.filter { !copies.contains(paths[$0]) }
            files.forget(copies)
            sources = kept.map { sources[$0] }
        }
        let prisma = try PrismaSchema(files: sources)
        guard let database = database ?? prisma.database(with: files.dotEnv) else {
            let hint =
                prisma.url == nil
                ? "; the url in a prisma.config.ts is not read"
                : prisma.variable.map { ", or set \($0)" } ?? ""
            throw .noDatabase(of: "a Prisma schema", at: files.location(), hint)
        }
        var schema = prisma.serverSchema(database: database)
        schema.prisma = prisma
        guard schema.collections.isEmpty else { return schema }
        throw SchemaError(
            .schemaMissing, at: files.location(), "the schema has no model", remedy: "give the whole folder")
    }
}

extension SchemaError {
    /// Returns the error for a schema whose collections are in no known database.
    static func noDatabase(of schema: String, at location: SourceLocation, _ hint: String = "") -> SchemaError {
        SchemaError(
            .databaseUnknown, at: location, "\(schema) names collections, but no database",
            remedy: "write database: NAME into shipshape.yml, or set SHIPSHAPE_DATABASE=NAME\(hint)")
    }
}

extension SchemaFiles {
    /// Returns the `.prisma` files, sorted by path; `nil` if the path is not a Prisma schema.
    ///
    /// If a folder directly contains a `.prisma` file, all such files in it and in its subfolders are one schema, as in
    /// Prisma.
    func prismaPaths() throws(SchemaError) -> [String]? {
        guard isFolder else { return location().file.hasSuffix(".prisma") ? [""] : nil }
        guard try entries().contains(where: isPrisma) else { return nil }
        var (paths, folders): ([String], [String]) = ([], [""])
        while let folder = folders.popLast() {
            for entry in try entries(of: folder) {
                if isPrisma(entry) { paths.append(entry) }
                if isOwnFolder(entry), name(of: entry) != "node_modules" { folders.append(entry) }
            }
        }
        return paths.sorted()
    }

    /// Returns the folders, each with a slash at its end, into which generators put the client with a copy of the
    /// schema: their `output`, which is relative to the file.
    fileprivate func outputs(of sources: [SchemaSource]) -> [String] {
        sources.flatMap { source -> [String] in
            guard source.text.contains("generator") else { return [] }
            var parser = PrismaParser(source.text, file: source.path)
            return parser.blocks().filter { $0.keyword.text == "generator" }.compactMap { block in
                guard
                    case .string(let output)? = block.properties.first(where: { $0.name.text == "output" })?.value.value
                else { return nil }
                let folder = FilePath(source.path).removingLastComponent().pushing(FilePath(output))
                var relative = folder.lexicallyNormalized()
                let base = FilePath(location().file).lexicallyNormalized()
                guard relative.removePrefix(base), !relative.isEmpty else { return nil }
                return relative.string + "/"
            }
        }
    }

    fileprivate func refuseConfiguration() throws(SchemaError) {
        let name = FilePath(location().file).lastComponent
        guard name?.stem == "prisma.config", !isFolder else { return }
        let text = (try? SourceFile.bytes(of: root.string, named: "")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let schema = text.firstMatch(of: /\bschema\s*:\s*["'`]([^"'`]+)["'`]/).map { String($0.output.1) }
        let folder = FilePath(location().file).removingLastComponent()
        throw SchemaError(
            .schemaMissing, at: location(), "the file configures Prisma, and holds no schema",
            remedy: "name the schema: \(folder.pushing(FilePath(schema ?? "prisma/schema.prisma")).string)")
    }

    private func isPrisma(_ path: String) -> Bool { path.hasSuffix(".prisma") && isFile(path) }
}
