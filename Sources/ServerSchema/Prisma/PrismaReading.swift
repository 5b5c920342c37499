internal import BSON
internal import FoundationEssentials

/// Reads the `.prisma` files at a path.
struct PrismaReading {
    private let files: SchemaFiles
    private let prisma: PrismaSchema

    /// Reads the files; `nil` if the path is neither a `.prisma` file nor a folder that directly contains one.
    /// - Throws: ``SchemaError`` if the files cannot be read, or have errors.
    init?(_ files: SchemaFiles) throws(SchemaError) {
        var files = files
        guard let paths = try files.prismaPaths() else { return nil }
        var sources: [SchemaSource] = []
        for path in paths { sources.append(SchemaSource(path: files.location(path).file, text: try files.text(path))) }
        prisma = try PrismaSchema(files: sources)
        self.files = files
    }

    /// Returns the schemas of the collections that the models describe.
    /// - Parameters:
    ///   - namespace: the only collection that the caller asks for; the other collections become
    ///     ``ServerSchema/neighbours``. `nil` if the caller asks for all.
    ///   - required: a collection that must exist if `namespace` is `nil`.
    ///   - database: the database of the collections; `nil` for the one that the connection string names.
    /// - Throws: ``SchemaError`` if no database is known, if the collection does not exist, or if there is no model.
    func schema(
        _ namespace: Namespace?, requiring required: Namespace? = nil, in database: String?
    ) throws(SchemaError) -> ServerSchema {
        guard let database = database ?? prisma.database(with: files.dotEnv) else {
            let hint = if case .variable(let name)? = prisma.url { ", or set \(name)" } else { "" }
            throw SchemaError(
                .databaseUnknown, at: files.location(),
                "a Prisma schema names collections, but no database",
                remedy: "write database: NAME into shipshape.yml, or set SHIPSHAPE_DATABASE=NAME\(hint)")
        }
        var schema = prisma.serverSchema(database: database)
        schema.prisma = prisma
        schema.sources = files.sources.sorted { $0.path < $1.path }
        guard !schema.collections.isEmpty else {
            throw SchemaError(
                .schemaMissing, at: files.location(), "the schema has no model", remedy: "give the whole folder")
        }
        return try schema.only(
            namespace, requiring: required, else: "no model has the collection", at: files.location())
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
                if isOwnFolder(entry) { folders.append(entry) }
            }
        }
        return paths.sorted()
    }

    private func isPrisma(_ path: String) -> Bool { path.hasSuffix(".prisma") && isFile(path) }
}
