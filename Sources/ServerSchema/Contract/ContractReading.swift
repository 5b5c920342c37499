internal import BSON

/// Reads a contract of Prisma 8 ("Prisma Next") for MongoDB: `contract.prisma`, `contract.json`, or a migration's
/// `ops.json`.
///
/// The schemas are the validators that Prisma applies to the collections, so a verdict is the server's. Source:
/// `packages/2-mongo-family` and `packages/3-mongo-target` of prisma/prisma at ``release``.
struct ContractReading {
    /// The release whose files and validators this reader knows.
    static let release = "8.0.0-rc.5"

    private var files: SchemaFiles
    /// The schemas by the names of their collections.
    private let roots: [String: SchemaNode]
    private let notes: [SchemaNote]

    /// Reads the files; `nil` if they are not a contract.
    /// - Throws: ``SchemaError`` if the files cannot be read or have errors, or if they mix two versions of Prisma.
    init?(_ files: SchemaFiles) throws(SchemaError) {
        self.files = files
        if let paths = try files.contractPaths() {
            var resolver = ContractResolver()
            for path in paths {
                var parser = PrismaParser(try self.files.text(path), file: files.location(path).file, isContract: true)
                let blocks = parser.blocks()
                resolver.add(blocks, parser.errors)
            }
            roots = resolver.resolve()
            if let error = SchemaError(resolver.errors, inOrderOf: paths.map { files.location($0).file }) {
                throw error
            }
            notes = resolver.notes
        } else if let path = files.contractJSON {
            var file = ContractFile()
            roots = try file.roots(try self.files.json(path))
            notes = file.notes
        } else {
            return nil
        }
    }

    /// Returns the schemas of the collections; the parameters and errors are those of ``PrismaReading``.
    func schema(
        _ namespace: Namespace?, requiring required: Namespace? = nil, in database: String?
    ) throws(SchemaError) -> ServerSchema {
        guard let database else {
            throw SchemaError(
                .namespaceUnknown, at: files.location(), "a contract names collections, but no database",
                remedy: "set SHIPSHAPE_DATABASE=NAME, or give a connection string with the database in its path")
        }
        let collections = roots.sorted { $0.key < $1.key }.map { name, root in
            var collection = CollectionSchema(namespace: Namespace(database: database, collection: name), root: root)
            collection.dialect = .jsonSchema
            return collection
        }
        var schema = ServerSchema(dialect: .jsonSchema, collections: collections)
        (schema.isContract, schema.notes) = (true, notes)
        schema.sources = files.sources.sorted { $0.path < $1.path }
        return try schema.only(
            namespace, requiring: required, else: "the contract has no validator of", at: files.location())
    }
}

extension SchemaFiles {
    /// Returns the `.prisma` files of a contract; `nil` if the path has none.
    /// - Throws: ``SchemaError`` if the files, or the parts of one file, are of two versions of Prisma.
    fileprivate func contractPaths() throws(SchemaError) -> [String]? {
        var (contracts, others): ([String], [String]) = ([], [])
        for path in try prismaPaths() ?? [] {
            var copy = self
            let isContract = try Self.isContract(try copy.text(path), location(path).file)
            if isContract { contracts.append(path) } else { others.append(path) }
        }
        guard let contract = contracts.first else { return nil }
        guard let other = others.first else { return contracts }
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
        // The token before the last one, and the last one: a file is not held as a list of its tokens.
        var (first, before): (PrismaToken?, PrismaToken?) = (nil, nil)
        var count = 0
        // A file with more tokens than this has too many parts for either reader.
        while case let token = lexer.next(), token.kind != .fileEnd, count < 1_000_000 {
            count += 1
            if source == nil, first?.text == "datasource", token.isMark("{") { source = first }
            if own == nil, let before {
                let isOwn =
                    before.isMark("@@")
                    ? ["discriminator", "base", "type"].contains(token.text)
                    : before.kind == .name && token.kind == .name && token.text == "ObjectId"
                if isOwn { own = token }
            }
            (first, before) = (before, token)
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
