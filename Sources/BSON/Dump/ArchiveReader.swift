/// Reads the output of `mongodump --archive`, in which blocks with documents of several collections are interleaved.
///
/// The format is described in mongo-tools, `common/archive/spec.md`. Archives that are compressed with gzip are
/// decompressed.
public struct ArchiveReader: ~Copyable {
    /// The most collections that the reader accepts in an archive.
    ///
    /// The limit bounds the memory of the reader, which grows with the number of collections.
    public static var maximumCollections: Int { 200_000 }

    /// The information at the start of the archive.
    public let prelude: ArchivePrelude
    /// The collections whose documents the reader returns.
    public let wanted: [Namespace]

    /// The reader's progress in one collection.
    private struct Progress {
        var namespace: Namespace
        /// The index of the collection in ``wanted``; `nil` if its documents are skipped.
        var index: Int?
        var checksum = CRC64()
        var isClosed = false
    }

    private var input: DumpInput
    private let isValidating: Bool
    private let tables = CRC64.tables
    private var progress: [Progress] = []
    private var places: [Namespace: Int] = [:]
    /// The block that the reader is in; `nil` between two blocks.
    private var block: (collection: Int, isEnd: Bool)?
    private var documentOffset: Int64 = 0
    private var documentLength = 0

    /// Reads the start of an open input, up to the first documents.
    ///
    /// - Parameters:
    ///   - wanted: the collections whose documents are returned; the documents of others are skipped.
    ///   - validating: whether each document is checked at every depth before it is returned.
    /// - Throws: ``DumpError`` when the start of the archive cannot be read.
    public init(
        _ input: consuming DumpInput, wanted: [Namespace], validating: Bool = false
    ) throws(DumpError) {
        prelude = try ArchivePrelude(reading: &input)
        self.input = input
        self.wanted = wanted
        isValidating = validating
    }

    /// The number of documents returned so far.
    public var documents: Int { input.documents }

    /// The collections that have appeared so far, in the archive's order.
    public var namespaces: [Namespace] { progress.map(\.namespace) }

    /// Moves to the next document of a wanted collection, and returns the index of the collection in ``wanted``.
    ///
    /// Returns `nil` at the end of the archive. The documents can be trusted only once the end is reached, because the
    /// checksum of a collection comes after its documents.
    /// - Throws: ``DumpError`` when the rest of the archive cannot be read.
    public mutating func next() throws(DumpError) -> Int? {
        while true {
            guard let block else {
                guard try beginBlock() else { return nil }
                continue
            }
            if try input.takeTerminator() {
                self.block = nil
                continue
            }
            guard !block.isEnd else { throw input.archiveFailure("documents after the end of their collection") }
            if let index = try takeDocument(of: block.collection) { return index }
        }
    }

    /// The document that ``next()`` moved to; the view is valid until the next call.
    public var document: BSONView {
        @_lifetime(borrow self)
        get { input.givenDocument(documentLength) }
    }

    /// Returns the error for damage that the caller found in the document to which ``next()`` moved last.
    public func failure(_ damage: BSONError) -> DumpError {
        DumpError(
            .damaged, path: input.path, offset: documentOffset + Int64(damage.offset), documents: documents - 1,
            damage: damage)
    }
}

extension ArchiveReader {
    /// Moves past one document, and returns the index of its collection in ``wanted``.
    ///
    /// Returns `nil` if ``wanted`` does not contain the collection.
    private mutating func takeDocument(of collection: Int) throws(DumpError) -> Int? {
        let index = progress[collection].index
        let length = try input.fillDocument(validating: isValidating && index != nil)
        documentOffset = input.offset
        documentLength = length
        input.drop(length)
        guard let index else { return nil }
        var checksum = progress[collection].checksum
        checksum.update(input.bytes(before: length, length), tables: tables.span)
        progress[collection].checksum = checksum
        input.documents += 1
        return index
    }

    /// Reads the header of the next block; returns `false` at the end of the archive.
    private mutating func beginBlock() throws(DumpError) -> Bool {
        try input.fill(1)
        if input.pending.isEmpty {
            try checkEnd()
            return false
        }
        guard let header = try input.archiveDocument() else { throw input.archiveFailure("a block has no header") }
        guard let namespace = Namespace(ofArchive: header) else {
            throw input.archiveFailure("a block does not name its collection")
        }
        let collection = try place(of: namespace)
        guard !progress[collection].isClosed else { throw input.archiveFailure("\(namespace) ends twice") }
        let isEnd = header["EOF"] == .bool(true)
        if isEnd { try close(collection, checksum: header["CRC"]?.integer) }
        block = (collection, isEnd)
        return true
    }

    private mutating func place(of namespace: Namespace) throws(DumpError) -> Int {
        if let known = places[namespace] { return known }
        try input.checkName(namespace, after: progress.count)
        progress.append(Progress(namespace: namespace, index: wanted.firstIndex(of: namespace)))
        places[namespace] = progress.count - 1
        return progress.count - 1
    }

    private mutating func close(_ collection: Int, checksum: Int?) throws(DumpError) {
        progress[collection].isClosed = true
        let (namespace, own) = (progress[collection].namespace, progress[collection].checksum.value)
        guard progress[collection].index == nil || checksum == Int(bitPattern: UInt(own)) else {
            throw input.archiveFailure("the checksum of \(namespace) differs", .wrongChecksum)
        }
    }

    /// Throws if the archive ends before all its collections are complete.
    ///
    /// A collection of which a block was read must also have its end block. A plain collection that the prelude lists
    /// must have at least one block. Time series and views need none: a time series appears under the name of its
    /// buckets, and a view has no documents.
    private func checkEnd() throws(DumpError) {
        let open = progress.first { !$0.isClosed }?.namespace
        let closed = Set(progress.map(\.namespace))
        let unseen = prelude.collections.first { $0.kind == .collection && !closed.contains($0.namespace) }?.namespace
        guard let namespace = open ?? unseen else { return }
        throw input.archiveFailure("\(namespace) has no end", .unfinished)
    }
}
