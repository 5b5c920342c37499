/// The information at the start of a mongodump archive.
public struct ArchivePrelude: Hashable, Sendable {
    /// One collection in the archive.
    public struct Collection: Hashable, Sendable {
        /// The collection's full name; for the oplog, the database's name is empty.
        public let namespace: Namespace
        /// The collection's kind.
        public let kind: DumpMetadata.Kind
        /// The collection's default collation; `nil` if it has none, or if it is not known.
        public let collation: BSONDocument?
    }

    /// The version of the server that was dumped; `nil` if mongodump did not record it.
    public let serverVersion: String?
    /// The version of mongodump; `nil` if it did not record it.
    public let toolVersion: String?
    /// The collections, in the archive's order.
    public private(set) var collections: [Collection] = []

    /// Reads the magic number, the header, and one document for each collection, up to the terminator after these
    /// documents.
    init(reading input: inout DumpInput) throws(DumpError) {
        try input.fill(4)
        guard input.isArchive else { throw input.archiveFailure("an archive begins differently") }
        input.drop(4)
        let header = try input.archiveDocument()
        guard let header else { throw input.archiveFailure("the header is missing") }
        serverVersion = header["server_version"]?.text
        toolVersion = header["tool_version"]?.text
        while let document = try input.archiveDocument() {
            guard let collection = Collection(document) else {
                throw input.archiveFailure("a collection without a name")
            }
            try input.checkName(collection.namespace, after: collections.count)
            collections.append(collection)
        }
    }
}

extension ArchivePrelude.Collection {
    init?(_ document: BSONDocument) {
        guard let namespace = Namespace(ofArchive: document) else { return nil }
        self.namespace = namespace
        let metadata = document["metadata"]?.text.flatMap { try? DumpMetadata(json: $0) }
        collation = metadata?.options["collation"]?.document
        kind = DumpMetadata.Kind(type: document["type"]?.text, options: metadata?.options ?? BSONDocument())
    }
}

extension Namespace {
    /// Reads `db` and `collection` from the description of a collection or a block; `nil` if there is no collection
    /// name.
    init?(ofArchive document: BSONDocument) {
        guard let collection = document["collection"]?.text, !collection.isEmpty else { return nil }
        self.init(database: document["db"]?.text ?? "", collection: collection)
    }
}

extension DumpInput {
    /// Returns whether a terminator of the archive format, which is four bytes 0xFF, comes next; skips it if so.
    mutating func takeTerminator() throws(DumpError) -> Bool {
        try fill(4)
        guard pending.count >= 4 else { throw failure(.unfinished, ahead: pending.count) }
        guard int32() == -1 else { return false }
        drop(4)
        return true
    }

    /// Returns the header, or the next description of a collection or a block.
    ///
    /// If a terminator of the archive format comes next, skips it and returns `nil`.
    mutating func archiveDocument() throws(DumpError) -> BSONDocument? {
        if try takeTerminator() { return nil }
        let length = try fillDocument(validating: true)
        drop(length)
        return BSONDocument(copying: givenDocument(length))
    }

    /// Throws if a collection's name is longer than any server allows, or if the archive has too many collections.
    func checkName(_ namespace: Namespace, after count: Int) throws(DumpError) {
        // mongod allows 255 bytes; the names of a sharded cluster's internal collections are a little longer.
        guard namespace.database.utf8.count + namespace.collection.utf8.count <= 1_024 else {
            throw archiveFailure("a collection's name is too long")
        }
        guard count < ArchiveReader.maximumCollections else {
            throw archiveFailure("more than \(ArchiveReader.maximumCollections) collections")
        }
    }

    /// Returns the error for an archive that violates the format.
    func archiveFailure(_ detail: String, _ code: DumpError.Code = .invalidArchive) -> DumpError {
        DumpError(code, path: path, offset: offset, documents: documents, detail: detail)
    }
}
