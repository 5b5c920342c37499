public import SystemPackage

/// What a dump's bytes are read from: large pieces go into one buffer, which lends them on.
///
/// The buffer grows only to the size of the largest document.
public struct DumpInput: ~Copyable {
    /// The file; `-` for standard input.
    public let path: FilePath
    /// The documents that were given so far.
    public internal(set) var documents = 0
    /// How many bytes were given so far, of what the source holds after gzip was undone.
    public private(set) var offset: Int64 = 0

    private var stream: ByteStream
    private var buffer: [UInt8]
    private let bufferSize: Int
    /// The bytes of the buffer that were read and not yet given.
    private(set) var pending = 0..<0

    /// The name that stands for standard input.
    public static var standardInput: FilePath { "-" }

    /// Opens a file, or standard input where `path` is `-`, and undoes gzip when its content says so.
    ///
    /// - Parameters:
    ///   - bufferSize: the bytes that are asked of the system at once.
    ///   - isStopped: asked now and then while a pipe has nothing to give; a yes ends the reading.
    /// - Throws: ``DumpError`` when the system refuses, or the reading is stopped.
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

    /// The file's size in bytes when it was opened; `nil` when it has none, as a pipe.
    public var fileSize: Int64? { stream.fileSize }

    /// Whether the source is compressed with gzip.
    public var isCompressed: Bool { stream.isCompressed }

    /// Whether there is nothing to give, after ``kind()`` has looked for it.
    public var isEmpty: Bool { pending.isEmpty }

    /// Gives all there is as text; for what is small.
    /// - Parameter limit: the most bytes that there may be, after gzip was undone: 16 MiB where nothing else is said.
    /// - Throws: ``DumpError`` when it cannot be read, or there is more.
    public mutating func text(limit: Int = 16 << 20) throws(DumpError) -> String {
        while try fillMore() {
            guard pending.count <= limit else {
                throw DumpError(
                    .tooLong, path: path, offset: offset + Int64(limit), documents: documents,
                    detail: "at most \(limit >> 20) MiB are read of such a file")
            }
        }
        let text = unsafe pendingBytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        drop(pending.count)
        return text
    }
}

extension DumpInput {
    /// Reads until there are `count` bytes to give, or the source ends.
    mutating func fill(_ count: Int) throws(DumpError) {
        while pending.count < count {
            // A length that is damaged must not make the buffer larger than twice what there is.
            makeRoom(for: min(count, max(buffer.count, pending.count * 2)))
            if try read() == 0 { return }
        }
    }

    /// Reads more than there is; says whether there was more.
    mutating func fillMore() throws(DumpError) -> Bool {
        if pending.upperBound == buffer.count {
            // A text whose end is not in sight: to double is cheaper than to grow step by step.
            makeRoom(for: pending.lowerBound > 0 ? pending.count + 1 : buffer.count * 2)
        }
        return try read() > 0
    }

    /// Gives the first `count` of the pending bytes away.
    mutating func drop(_ count: Int) {
        pending = pending.lowerBound + count..<pending.upperBound
        offset += Int64(count)
    }

    /// Gives the buffer away for another one, into which it puts the pending bytes.
    /// - Returns: where the `count` bytes stand in it that were given last.
    mutating func exchange(given count: Int, for block: inout [UInt8]) -> Range<Int> {
        let rest = pending
        let needed = max(bufferSize, rest.count)
        if block.count < needed { block = Array(repeating: 0, count: needed) }
        swap(&buffer, &block)
        buffer.replaceSubrange(..<rest.count, with: block[rest])
        pending = 0..<rest.count
        return rest.lowerBound - count..<rest.lowerBound
    }

    /// The byte that is so many after the first pending one.
    subscript(index: Int) -> UInt8 { buffer[pending.lowerBound + index] }

    /// All bytes that were read and not yet given.
    var pendingBytes: RawSpan {
        @_lifetime(borrow self)
        get { bytes(before: 0, pending.count) }
    }

    /// The `count` bytes that begin `given` bytes before the first pending one: what was given last is still there.
    @_lifetime(borrow self)
    func bytes(before given: Int, _ count: Int) -> RawSpan {
        let start = pending.lowerBound - given
        return unsafe buffer.span.bytes.extracting(start..<start + count)
    }

    /// The four bytes that begin `at` so far, as BSON's lengths are written.
    func int32(at index: Int = 0) -> Int32 {
        unsafe Int32(
            littleEndian: buffer.span.bytes.unsafeLoadUnaligned(
                fromByteOffset: pending.lowerBound + index, as: Int32.self))
    }

    /// The error for what was met `ahead` bytes after the last that was given.
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
