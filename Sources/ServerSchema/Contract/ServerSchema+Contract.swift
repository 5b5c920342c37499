internal import BSON

extension ServerSchema {
    /// Reads a contract of Prisma 8 ("Prisma Next") for MongoDB: `contract.prisma`, `contract.json`, or a migration's
    /// `ops.json`.
    ///
    /// The schemas are the validators that Prisma applies to the collections, so a verdict is the server's. Source:
    /// `packages/2-mongo-family` and `packages/3-mongo-target` of prisma/prisma at ``ContractResolver/release``.
    /// - Returns: The schemas; `nil` if the files are not a contract.
    /// - Throws: ``SchemaError`` if the files cannot be read or have errors, or if no database is known.
    static func contract(_ files: inout SchemaFiles, in database: String?) throws(SchemaError) -> ServerSchema? {
        let roots: [String: SchemaNode]
        var schema = ServerSchema(dialect: .jsonSchema, collections: [])
        let paths = try files.contractPaths()
        if !paths.isEmpty {
            var resolver = ContractResolver()
            for path in paths {
                var parser = PrismaParser(try files.text(path), file: files.location(path).file, isContract: true)
                let blocks = parser.blocks()
                resolver.add(blocks, parser.errors)
            }
            roots = resolver.resolve()
            if let error = SchemaError(resolver.errors, inOrderOf: paths.map { files.location($0).file }) {
                throw error
            }
            schema.notes = resolver.notes
        } else if let path = files.contractJSON {
            var file = ContractFile()
            roots = try file.roots(try files.json(path))
            schema.notes = file.notes
        } else {
            return nil
        }
        guard let database else { throw .noDatabase(of: "a contract", at: files.location()) }
        schema.collections = roots.sorted { $0.key < $1.key }.map { name, root in
            .init(namespace: Namespace(database: database, collection: name), root: root, dialect: .jsonSchema)
        }
        schema.isContract = true
        return schema
    }
}

extension SchemaFiles {
    /// Returns the `.prisma` files of a contract; empty if the path has none.
    /// - Throws: ``SchemaError`` if the files, or the parts of one file, are of two versions of Prisma.
    fileprivate func contractPaths() throws(SchemaError) -> [String] {
        let paths = try prismaPaths() ?? []
        var (copy, contracts): (SchemaFiles, [String]) = (self, [])
        for path in paths where try Self.isContract(try copy.text(path), location(path).file) { contracts.append(path) }
        guard let contract = contracts.first, let other = paths.first(where: { !contracts.contains($0) }) else {
            return contracts
        }
        throw SchemaError(
            .conflict, at: location(contract),
            "this is a contract of Prisma 8, but \(location(other).file) is a schema of Prisma 6",
            remedy: "name one of the two files")
    }

    /// The path of a `contract.json` or an `ops.json`, by any name; `nil` if there is none.
    fileprivate var contractJSON: String? {
        if isFolder { return ["contract.json", "ops.json"].first { isFile($0) } }
        guard location().file.hasSuffix(".json"), let json = try? parsed("").json else { return nil }
        return json["targetFamily"] != nil || ContractFile.isMigration(json) ? "" : nil
    }

    /// Whether a `.prisma` file is a contract of Prisma 8, and not a schema of Prisma 6.
    /// - Throws: ``SchemaError`` if the file has a datasource, as Prisma 6 needs it, and a part that only Prisma 8 has.
    private static func isContract(_ text: String, _ file: String) throws(SchemaError) -> Bool {
        var lexer = PrismaLexer(text, file: file)
        var (source, own): (PrismaToken?, PrismaToken?) = (nil, nil)
        // Three tokens are enough: a file is not held as a list of its tokens. A file with more tokens than this has
        // too many parts for either reader.
        var (first, second, count) = (lexer.next(), lexer.next(), 0)
        while second.kind != .fileEnd, count < 1_000_000 {
            let third = lexer.next()
            count += 1
            let isOwn =
                first.isMark("@@")
                ? ["discriminator", "base", "type"].contains(second.text)
                : first.kind == .name && second.kind == .name && second.text == "ObjectId"
            if isOwn { own = own ?? second }
            if first.text == "datasource", third.isMark("{") { source = source ?? first }
            (first, second) = (second, third)
        }
        let isMarked = text.split(separator: "\n", maxSplits: 1_000).prefix(1_000).contains {
            $0.hasPrefix("//") && $0.contains("use prisma-next")
        }
        guard let source, isMarked || own != nil else {
            return source == nil && (isMarked || own != nil || file.hasSuffix("contract.prisma"))
        }
        throw SchemaError(
            .conflict, at: source.location,
            "the datasource is of Prisma 6, but "
                + "\(own.map { "\"\($0.text)\" in line \($0.location.line)" } ?? "the comment \"use prisma-next\"") "
                + "is of Prisma 8",
            remedy: "Prisma 8 has no datasource; Prisma 6 writes String @db.ObjectId, and has no models with bases")
    }
}
