public import SystemPackage

/// Reads one document after another from a `.bson` file of mongodump, or from a pipe with the same content.
///
/// Content that is compressed with gzip is decompressed; every offset counts decompressed bytes.
public struct BSONFileReader: ~Copyable {
    /// The largest document that the reader accepts: 16 MiB and 16 KiB.
    ///
    /// This is mongod's `BSONObjMaxInternalSize`. A user's document has at most 16 MiB. A dump may also contain the
    /// server's own collections, whose documents may be a little larger.
    public static var maximumDocumentSize: Int { 16 << 20 + 16 << 10 }

    /// The offset of the document that was returned last; after ``next(exchanging:)``, the offset of the first document
    /// that it returned.
    public private(set) var documentOffset: Int64 = 0

    private var input: DumpInput
    private let isValidating: Bool

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - validating: whether each document is checked at every depth before it is returned.
    ///   - bufferSize: how many bytes are requested from the system at once.
    /// - Throws: ``DumpError`` when the system refuses to open or read the file.
    public init(_ path: FilePath, validating: Bool = false, bufferSize: Int = 1 << 20) throws(DumpError) {
        self.init(try DumpInput(path, bufferSize: bufferSize), validating: validating)
    }

    /// Creates a reader of an open input.
    public init(_ input: consuming DumpInput, validating: Bool = false) {
        self.input = input
        isValidating = validating
    }

    /// The path of the file.
    public var path: FilePath { input.path }
    /// The file's size in bytes when it was opened; `nil` for a pipe, and for standard input.
    public var fileSize: Int64? { input.fileSize }
    /// The number of documents returned so far.
    public var documents: Int { input.documents }
    /// The number of bytes up to the end of the document that was returned last, for a progress bar.
    public var bytesRead: Int64 { input.offset }

    /// Returns the next document; `nil` at the end of the file.
    ///
    /// The view is valid until the next call.
    /// - Throws: ``DumpError`` when the rest of the file cannot be read; another call throws the same error again.
    @_lifetime(&self)
    public mutating func next() throws(DumpError) -> BSONView? {
        try input.fill(4)
        if input.pending.isEmpty { return nil }
        if input.offset == 0, input.isArchive { throw input.failure(.archive) }
        let length = try input.fillDocument(validating: isValidating)
        documentOffset = input.offset
        input.drop(length)
        input.documents += 1
        return input.givenDocument(length)
    }

    /// Fills `block` with the next documents, one after another, until it has at least `bytes` bytes or the file ends.
    ///
    /// If no document is left, `block` is empty.
    /// - Throws: ``DumpError`` when the rest of the file cannot be read, after all documents before the failure were
    ///   returned.
    public mutating func next(into block: inout [UInt8], bytes: Int) throws(DumpError) {
        block.removeAll(keepingCapacity: true)
        while block.count < bytes {
            do throws(DumpError) {
                guard try next() != nil else { return }
            } catch {
                // The documents before the damage are returned first; the next call throws the error.
                guard block.isEmpty else { return }
                throw error
            }
            let length = Int(input.offset - documentOffset)
            unsafe input.bytes(before: length, length).withUnsafeBytes { unsafe block.append(contentsOf: $0) }
        }
    }

    /// Returns all complete documents in the buffer, and reads more bytes first if there are none; `nil` at the end of
    /// the file.
    ///
    /// The documents are in the returned range of `block`, one after another. The reader takes the previous `block` as
    /// its buffer, so that no document is copied. Only the lengths and terminators of the documents were checked.
    /// - Throws: ``DumpError`` when the rest of the file cannot be read, after all documents before the failure were
    ///   returned.
    public mutating func next(exchanging block: inout [UInt8]) throws(DumpError) -> Range<Int>? {
        guard try next() != nil else { return nil }
        let first = Int(input.offset - documentOffset)
        let (count, length) = input.wholeDocuments
        input.drop(length)
        input.documents += count
        return input.exchange(given: first + length, for: &block)
    }

    /// Returns the error for damage that the caller found in the document that was returned last.
    public func failure(_ damage: BSONError) -> DumpError {
        DumpError(damage, path: path, documentOffset: documentOffset, documents: documents - 1)
    }
}

extension DumpInput {
    /// The number of complete documents at the start of the pending bytes, and their total length.
    ///
    /// The count ends before a document with an invalid length or terminator.
    fileprivate var wholeDocuments: (count: Int, length: Int) {
        var (count, length) = (0, 0)
        while length + 5 <= pending.count {
            let next = Int(int32(at: length))
            guard next >= 5, next <= BSONFileReader.maximumDocumentSize, length + next <= pending.count,
                self[length + next - 1] == 0
            else { break }
            length += next
            count += 1
        }
        return (count, length)
    }

    /// Reads until the next document is complete in the buffer; checks the document, and returns its length.
    mutating func fillDocument(validating: Bool) throws(DumpError) -> Int {
        guard pending.count >= 4 else { throw failure(.truncated, ahead: pending.count) }
        let length = Int(int32())
        guard length >= 5 else { throw failure(.damaged, damage: BSONError(.invalidLength, at: 0)) }
        guard length <= BSONFileReader.maximumDocumentSize else { throw failure(.tooLarge) }
        try fill(length)
        guard pending.count >= length else { throw failure(.truncated, ahead: pending.count) }
        do throws(BSONError) {
            let view = try BSONView(bytes(before: 0, length))
            if validating { try view.validate() }
        } catch { throw failure(.damaged, ahead: error.offset, damage: error) }
        return length
    }

    /// Returns the document in the last `length` bytes that ``drop(_:)`` marked as used.
    /// - Precondition: ``fillDocument(validating:)`` has checked these bytes.
    @_lifetime(borrow self)
    func givenDocument(_ length: Int) -> BSONView {
        do {
            return try BSONView(bytes(before: length, length))
        } catch { preconditionFailure("\(error)") }
    }
}
