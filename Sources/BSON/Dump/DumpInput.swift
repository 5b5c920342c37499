public import SystemPackage

/// Reads the bytes of a dump in large blocks into one buffer; readers get views of that buffer.
///
/// The buffer grows if it cannot hold the next document, or the whole content for ``text(limit:)``.
public struct DumpInput: ~Copyable {
    /// The path of the file; `-` for standard input.
    public let path: FilePath
    /// The number of documents that readers have returned so far.
    public internal(set) var documents = 0
    /// The number of decompressed bytes that readers have used so far.
    public private(set) var offset: Int64 = 0

    private var stream: ByteStream
    private var buffer: [UInt8]
    private let bufferSize: Int
    /// The range of bytes in the buffer that were read from the source and that no reader has used yet.
    private(set) var pending = 0..<0

    /// The path that means standard input.
    public static var standardInput: FilePath { "-" }

    /// Opens a file, or standard input if `path` is `-`; content that is compressed with gzip is decompressed.
    ///
    /// - Parameters:
    ///   - bufferSize: how many bytes are requested from the system at once.
    ///   - isStopped: called every 200 ms while a pipe has no data; the reading ends if it returns `true`.
    /// - Throws: ``DumpError`` when the system refuses to open or read the file, or the reading is stopped.
    public init(
        _ path: FilePath, bufferSize: Int = 1 << 20, isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(DumpError) {
        precondition(bufferSize > 0)
        do {
            stream = try ByteStream(path == Self.standardInput ? nil : path, isStopped: isStopped)
        } catch { throw DumpError(error, path: path, offset: 0, documents: 0) }
        self.path = path
        self.bufferSize = bufferSize
        buffer = Array(repeating: 0, count: bufferSize)
    }

    /// The file's size in bytes when it was opened; `nil` for a pipe, and for standard input.
    public var fileSize: Int64? { stream.fileSize }

    /// Whether the source is compressed with gzip.
    public var isCompressed: Bool { stream.isCompressed }

    /// Whether the source has no bytes; valid after a call of ``kind()``, which reads the first bytes.
    public var isEmpty: Bool { pending.isEmpty }

    /// Returns the whole content as text; use it only for small files.
    /// - Parameter limit: the most bytes of decompressed content; 16 MiB by default.
    /// - Throws: ``DumpError`` when the content cannot be read, or is longer than `limit`.
    public mutating func text(limit: Int = 16 << 20) throws(DumpError) -> String {
        while try fillMore() {
            guard pending.count <= limit else {
                throw DumpError(
                    .tooLong, path: path, offset: offset + Int64(limit), documents: documents,
                    detail: "at most \(limit >> 20) MiB of such a file are read")
            }
        }
        let text = unsafe pendingBytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        drop(pending.count)
        return text
    }
}

extension DumpInput {
    /// Reads until there are `count` pending bytes, or the source ends.
    mutating func fill(_ count: Int) throws(DumpError) {
        while pending.count < count {
            // `count` may come from a damaged length field. The buffer therefore grows to at most twice the number of
            // bytes that were read.
            makeRoom(for: min(count, max(buffer.count, pending.count * 2)))
            if try read() == 0 { return }
        }
    }

    /// Reads more bytes; returns `false` at the end of the source.
    mutating func fillMore() throws(DumpError) -> Bool {
        if pending.upperBound == buffer.count {
            // The length of the content is unknown, so a full buffer is doubled. That is cheaper than many small steps.
            makeRoom(for: pending.lowerBound > 0 ? pending.count + 1 : buffer.count * 2)
        }
        return try read() > 0
    }

    /// Marks the first `count` pending bytes as used.
    mutating func drop(_ count: Int) {
        pending = pending.lowerBound + count..<pending.upperBound
        offset += Int64(count)
    }

    /// Exchanges the buffer with `block`, and copies the pending bytes into the new buffer.
    /// - Returns: the range of `block` that contains the `count` bytes that were used last.
    mutating func exchange(given count: Int, for block: inout [UInt8]) -> Range<Int> {
        let rest = pending
        let needed = max(bufferSize, rest.count)
        if block.count < needed { block = Array(repeating: 0, count: needed) }
        swap(&buffer, &block)
        buffer.replaceSubrange(..<rest.count, with: block[rest])
        pending = 0..<rest.count
        return rest.lowerBound - count..<rest.lowerBound
    }

    /// The byte at `index`, counted from the first pending byte.
    subscript(index: Int) -> UInt8 { buffer[pending.lowerBound + index] }

    /// The bytes that were read from the source and that no reader has used yet.
    var pendingBytes: RawSpan {
        @_lifetime(borrow self)
        get { bytes(before: 0, pending.count) }
    }

    /// Returns `count` bytes; the first of them is `given` bytes before the first pending byte.
    ///
    /// The bytes that a reader used last are still in the buffer, so they can be returned again.
    @_lifetime(borrow self)
    func bytes(before given: Int, _ count: Int) -> RawSpan {
        let start = pending.lowerBound - given
        return unsafe buffer.span.bytes.extracting(start..<start + count)
    }

    /// Returns the four bytes from the pending byte `index` on, as a little-endian integer like the lengths of BSON.
    func int32(at index: Int = 0) -> Int32 {
        unsafe Int32(
            littleEndian: buffer.span.bytes.unsafeLoadUnaligned(
                fromByteOffset: pending.lowerBound + index, as: Int32.self))
    }

    /// Returns the error for a failure that is `ahead` bytes after the beginning of the first pending byte.
    func failure(_ code: DumpError.Code, ahead: Int = 0, damage: BSONError? = nil, line: Int? = nil) -> DumpError {
        DumpError(
            code, path: path, offset: offset + Int64(ahead), documents: documents, damage: damage, line: line)
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
        let free = pending.upperBound...
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(ByteStream.Failure) in
                try unsafe stream.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[free]))
            }
        }
        let read: Int
        do {
            read = try result.get()
        } catch {
            throw DumpError(error, path: path, offset: offset + Int64(pending.count), documents: documents)
        }
        pending = pending.lowerBound..<pending.upperBound + read
        return read
    }
}

/// The kind of a source of documents, which its first bytes show.
public enum DumpKind: Hashable, Sendable {
    /// One document after another, as in a `.bson` file; an empty source also has this kind.
    case bson
    /// The output of `mongodump --archive`.
    case archive
    /// Extended JSON, as mongoexport writes it: one document after another, or an array of documents.
    case json
    /// A source that is neither BSON, nor a mongodump archive, nor extended JSON.
    case unknown
}

extension DumpInput {
    /// Returns the kind of the source by its first bytes, which stay pending.
    /// - Throws: ``DumpError`` when the first bytes cannot be read.
    public mutating func kind() throws(DumpError) -> DumpKind {
        try fill(5)
        if isArchive { return .archive }
        if pending.isEmpty { return .bson }
        // The length field of a BSON document ends with the byte 0 or 1, which JSON never contains. A source of one to
        // three bytes cannot be BSON.
        if pending.count >= 4, (5...BSONFileReader.maximumDocumentSize).contains(Int(int32())) { return .bson }
        return try beginsAsJSON() ? .json : .unknown
    }

    /// Whether the pending bytes begin with 0x8199e26d in little-endian order (mongo-tools,
    /// `common/archive/archive.go`).
    var isArchive: Bool { pending.count >= 4 && UInt32(bitPattern: int32()) == 0x8199_E26D }

    /// Whether the first byte after a byte order mark and white space begins an object or an array.
    ///
    /// Also `true` for a source of less than 1 MiB that contains only white space. Text after 1 MiB of white space may
    /// be missed.
    private mutating func beginsAsJSON() throws(DumpError) -> Bool {
        var index = hasByteOrderMark ? 3 : 0
        while true {
            if index == pending.count {
                // An empty export may consist of one line break. More than a mebibyte of white space is no export, and
                // would need too much memory.
                guard index < 1 << 20 else { return false }
                guard try fillMore() else { return true }
            }
            switch self[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): return true
            default: return false
            }
        }
    }

    var hasByteOrderMark: Bool {
        pending.count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF
    }
}
