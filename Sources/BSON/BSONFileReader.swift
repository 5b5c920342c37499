public import SystemPackage

/// Reads a `.bson` file, as mongodump writes it: documents one after the other.
///
/// The file is read in large pieces into one buffer, which lends each document until the next call; it grows only
/// to the size of the largest document.
public struct BSONFileReader: ~Copyable {
    /// The largest document that is read: 16 MiB and 16 KiB.
    ///
    /// That is mongod's `BSONObjMaxInternalSize`: users may store 16 MiB, and the server's own collections, which a
    /// dump also holds, a little more.
    public static var maximumDocumentSize: Int { 16 << 20 + 16 << 10 }

    /// The file.
    public let path: FilePath
    /// The file's size in bytes when it was opened; `nil` when it has none, as a pipe.
    public let fileSize: Int64?
    /// The documents that were given so far.
    public private(set) var documents = 0
    /// The byte of the file where the document that was given last begins.
    public private(set) var documentOffset: Int64 = 0
    /// The bytes of the file up to and with the document that was given last: what a progress bar shows.
    public private(set) var bytesRead: Int64 = 0

    private let descriptor: FileDescriptor
    private let isValidating: Bool
    private var buffer: [UInt8]
    /// The bytes of the buffer that were read from the file and not yet given.
    private var pending = 0..<0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - validating: whether each document is checked at every depth before it is given.
    ///   - bufferSize: the bytes that are asked of the system at once.
    /// - Throws: ``DumpError`` when the system refuses.
    public init(_ path: FilePath, validating: Bool = false, bufferSize: Int = 1 << 20) throws(DumpError) {
        precondition(bufferSize > 0)
        do {
            descriptor = try FileDescriptor.open(path, .readOnly)
        } catch {
            throw DumpError(.unreadable, path: path, offset: 0, documents: 0, errno: error as? Errno)
        }
        self.path = path
        isValidating = validating
        fileSize = try? descriptor.seek(offset: 0, from: .end)
        if fileSize != nil { _ = try? descriptor.seek(offset: 0, from: .start) }
        buffer = Array(repeating: 0, count: bufferSize)
    }

    deinit { try? descriptor.close() }

    /// Gives the next document, `nil` at the end of the file; the view is valid until the next call.
    /// - Throws: ``DumpError`` when the file cannot be read on; another call throws the same again.
    @_lifetime(&self)
    public mutating func next() throws(DumpError) -> BSONView? {
        try fill(4)
        if pending.isEmpty { return nil }
        let length = try documentLength()
        try fill(length)
        let document = pending.prefix(length)
        try check(document, length: length)
        pending = document.upperBound..<pending.upperBound
        documentOffset = bytesRead
        bytesRead += Int64(length)
        documents += 1
        do {
            return try BSONView(unsafe buffer.span.bytes.extracting(document))
        } catch { preconditionFailure("\(error)") }
    }

    /// The error for damage that the caller met while it walked the document that was given last.
    public func failure(_ damage: BSONError) -> DumpError {
        DumpError(
            .damaged, path: path, offset: documentOffset + Int64(damage.offset), documents: documents - 1,
            damage: damage)
    }
}

extension BSONFileReader {
    /// Reads until the buffer holds `count` bytes to give, or the file ends.
    private mutating func fill(_ count: Int) throws(DumpError) {
        while pending.count < count {
            makeRoom(for: count)
            let read = try read()
            if read == 0 { return }
            pending = pending.lowerBound..<pending.upperBound + read
        }
    }

    private mutating func makeRoom(for count: Int) {
        guard pending.lowerBound + count > buffer.count else { return }
        if count > buffer.count { buffer += repeatElement(0, count: count - buffer.count) }
        let pending = pending
        unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[pending]))
        }
        self.pending = 0..<pending.count
    }

    private mutating func read() throws(DumpError) -> Int {
        let (descriptor, free) = (descriptor, pending.upperBound...)
        do {
            return try unsafe buffer.withUnsafeMutableBytes { bytes in
                try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[free]))
            }
        } catch {
            throw DumpError(
                .unreadable, path: path, offset: bytesRead + Int64(pending.count), documents: documents,
                errno: error as? Errno)
        }
    }

    /// The length field of the next document, or why there is none.
    private func documentLength() throws(DumpError) -> Int {
        guard pending.count >= 4 else { throw failure(.truncated, at: pending.count) }
        let bytes = buffer[pending].prefix(4)
        let length = Int(Int32(truncatingIfNeeded: bytes.reversed().reduce(0) { $0 << 8 | Int($1) }))
        if bytesRead == 0, Array(bytes) == Self.archiveMagic { throw failure(.archive) }
        guard length > Self.maximumDocumentSize || length < 5 else { return length }
        if isPerhapsCompressed { throw failure(.compressed) }
        throw length < 5 ? failure(.damaged, damage: BSONError(.invalidLength, at: 0)) : failure(.tooLarge)
    }

    private func check(_ document: Range<Int>, length: Int) throws(DumpError) {
        do throws(BSONError) {
            guard document.count == length else { throw BSONError(.truncated, at: document.count) }
            let view = try BSONView(unsafe buffer.span.bytes.extracting(document))
            if isValidating || isPerhapsCompressed { try view.validate() }
        } catch {
            if isPerhapsCompressed { throw failure(.compressed) }
            if document.count < length { throw failure(.truncated, at: document.count) }
            throw failure(.damaged, at: error.offset, damage: error)
        }
    }

    private func failure(_ code: DumpError.Code, at offset: Int = 0, damage: BSONError? = nil) -> DumpError {
        DumpError(code, path: path, offset: bytesRead + Int64(offset), documents: documents, damage: damage)
    }

    /// Whether the file begins as gzip does; a document of 559,903 bytes begins so too.
    private var isPerhapsCompressed: Bool {
        bytesRead == 0 && pending.count >= 3 && Array(buffer[pending].prefix(3)) == Self.gzipMagic
    }

    private static var gzipMagic: [UInt8] { [0x1F, 0x8B, 8] }
    /// 0x6de29981, least significant byte first.
    private static var archiveMagic: [UInt8] { [0x81, 0x99, 0xE2, 0x6D] }
}
