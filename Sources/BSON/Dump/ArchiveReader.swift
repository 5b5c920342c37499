/// Reads what `mongodump --archive` writes: the documents of several collections, interleaved in blocks.
///
/// The format is that of mongo-tools, `common/archive/spec.md`. What is compressed with gzip is undone on the way.
public struct ArchiveReader: ~Copyable {
    /// The most collections of an archive: what is kept of each is all that grows with the archive.
    public static var mostCollections: Int { 200_000 }

    /// What the archive says at its start.
    public let prelude: ArchivePrelude
    /// The collections whose documents are given.
    public let wanted: [Namespace]

    /// How far a collection is read.
    private struct Progress {
        var namespace: Namespace
        /// Which of the wanted ones it is.
        var index: Int?
        var checksum = CRC64()
        var isClosed = false
    }

    private var input: DumpInput
    private let isValidating: Bool
    private let tables = CRC64.tables
    private var progress: [Progress] = []
    /// Where in ``progress`` a collection stands.
    private var places: [Namespace: Int] = [:]
    /// The block that is being read; `nil` between two.
    private var block: (collection: Int, isEnd: Bool)?
    private var documentOffset: Int64 = 0
    private var documentLength = 0

    /// Reads what was opened already, up to the first documents.
    ///
    /// - Parameters:
    ///   - wanted: the collections whose documents are asked for; all others are passed over.
    ///   - validating: whether each document is checked at every depth before it is given.
    /// - Throws: ``DumpError`` when the start of the archive cannot be read.
    public init(
        _ input: consuming DumpInput, wanted: [Namespace], validating: Bool = false
    ) throws(DumpError) {
        prelude = try ArchivePrelude(reading: &input)
        self.input = input
        self.wanted = wanted
        isValidating = validating
    }

    /// The documents that were given so far.
    public var documents: Int { input.documents }

    /// The collections that were met so far, in the archive's order.
    public var namespaces: [Namespace] { progress.map(\.namespace) }

    /// Goes to the next document of a wanted collection, and gives that one's index in ``wanted``; `nil` at the end of the
    /// archive.
    ///
    /// The documents of a collection are the right ones only when a later call gives `nil`: its checksum stands at the end.
    /// - Throws: ``DumpError`` when the archive cannot be read on.
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
            guard !block.isEnd else { throw input.archiveFailure("documents behind the end of their collection") }
            if let index = try takeDocument(of: block.collection) { return index }
        }
    }

    /// The document that ``next()`` went to; the view is valid until the next call.
    public var document: BSONView {
        @_lifetime(borrow self)
        get { input.givenDocument(documentLength) }
    }

    /// The error for damage that the caller met while it walked the document that was given last.
    public func failure(_ damage: BSONError) -> DumpError {
        DumpError(
            .damaged, path: input.path, offset: documentOffset + Int64(damage.offset), documents: documents - 1,
            damage: damage)
    }
}

extension ArchiveReader {
    /// Goes behind one document; `nil` when it is not wanted.
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

    /// Reads the header of the next block; no at the end of the archive.
    private mutating func beginBlock() throws(DumpError) -> Bool {
        try input.fill(1)
        if input.pending.isEmpty {
            try checkEnd()
            return false
        }
        guard let header = try input.archiveDocument() else { throw input.archiveFailure("a block without a header") }
        guard let namespace = Namespace(ofArchive: header) else {
            throw input.archiveFailure("a block that names no collection")
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

    /// Refuses an archive that lacks the end of a collection.
    ///
    /// A time series stands there under the name of its buckets, and what a view is needs no documents.
    private func checkEnd() throws(DumpError) {
        let open = progress.first { !$0.isClosed }?.namespace
        let closed = Set(progress.map(\.namespace))
        let unseen = prelude.collections.first { $0.kind == .collection && !closed.contains($0.namespace) }?.namespace
        guard let namespace = open ?? unseen else { return }
        throw input.archiveFailure("\(namespace) has no end", .unfinished)
    }
}
