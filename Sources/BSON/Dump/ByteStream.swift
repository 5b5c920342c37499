internal import SystemPackage

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The bytes of a file, a pipe or standard input; content that is compressed with gzip is decompressed.
struct ByteStream: ~Copyable {
    /// The reason why no more bytes can be read.
    enum Failure: Error {
        case system(Errno)
        case stopped
        case endsInsideOfGzip
        case gzip(Inflater.Damage)
    }

    /// The size of the source in bytes, before decompression; `nil` for a pipe, and for standard input.
    let fileSize: Int64?
    /// Whether the source is compressed with gzip.
    let isCompressed: Bool

    private var source: RawSource
    private var inflater: Inflater?

    /// Opens a file; a `nil` path means standard input.
    /// - Parameter isStopped: called every 200 ms while a pipe has no data; the reading ends if it returns `true`.
    init(_ path: FilePath?, isStopped: @escaping @Sendable () -> Bool) throws(Failure) {
        var source = try RawSource(path, isStopped: isStopped)
        isCompressed = try source.beginsAsGzip()
        fileSize = source.size
        inflater = isCompressed ? Inflater() : nil
        self.source = source
    }

    /// Reads the next bytes into `output` and returns their number; 0 at the end, and at least 1 otherwise.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        // The inflater is moved out and back, because an optional noncopyable value cannot be changed in place.
        guard var inflater = inflater.take() else { return try unsafe source.read(into: output) }
        let result = unsafe inflate(with: &inflater, into: output)
        self.inflater = consume inflater
        return try result.get()
    }

    private mutating func inflate(
        with inflater: inout Inflater, into output: UnsafeMutableRawBufferPointer
    ) -> Result<Int, Failure> {
        while true {
            do throws(Failure) {
                if inflater.needsInput {
                    let count = try unsafe source.read(into: inflater.space)
                    if count == 0 { return inflater.mayEnd ? .success(0) : .failure(.endsInsideOfGzip) }
                    inflater.supply(count)
                }
            } catch { return .failure(error) }
            do throws(Inflater.Damage) {
                let count = try unsafe inflater.inflate(into: output)
                if count > 0 { return .success(count) }
            } catch { return .failure(.gzip(error)) }
        }
    }
}

/// An open file whose first bytes can be inspected before they are read.
struct RawSource: ~Copyable {
    /// The file's size in bytes; `nil` for a pipe, and for standard input.
    let size: Int64?

    private let descriptor: FileDescriptor
    private let isOwner: Bool
    private let isStopped: @Sendable () -> Bool
    /// The first bytes of the file, which were already read for an inspection.
    private var head: [UInt8] = []
    private var headGiven = 0

    /// Opens a file; a `nil` path means standard input.
    init(_ path: FilePath?, isStopped: @escaping @Sendable () -> Bool) throws(ByteStream.Failure) {
        let descriptor: FileDescriptor
        do {
            descriptor = if let path { try FileDescriptor.open(path, .readOnly) } else { .standardInput }
        } catch { throw .system(error as? Errno ?? .ioError) }
        self.descriptor = descriptor
        self.isStopped = isStopped
        isOwner = path != nil
        // Standard input is read from its current position in the file, so the file's size is not used.
        size = isOwner ? try? descriptor.seek(offset: 0, from: .end) : nil
        if size != nil { _ = try? descriptor.seek(offset: 0, from: .start) }
    }

    deinit { if isOwner { try? descriptor.close() } }

    /// Reads the next bytes into `output` and returns their number; 0 at the end, and at least 1 otherwise.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(ByteStream.Failure) -> Int {
        guard headGiven < head.count else { return try unsafe readOn(into: output) }
        let count = min(output.count, head.count - headGiven)
        unsafe output.copyBytes(from: head[headGiven..<headGiven + count])
        headGiven += count
        return count
    }

    /// Whether the source is compressed with gzip, judged by its first bytes.
    ///
    /// The first four bytes of a gzip file can also be the length of a BSON document of 559,903 bytes. If the source
    /// begins with these four bytes, and the fifth byte is not 0, the first 559,903 bytes are inspected. If they are a
    /// valid BSON document, the source is not compressed.
    mutating func beginsAsGzip() throws(ByteStream.Failure) -> Bool {
        try readHead(4)
        guard head.starts(with: [0x1F, 0x8B, 8]) else { return false }
        try readHead(5)
        // In gzip, the time stamp begins where a BSON document has the type of its first element. Most gzip writers set
        // the time stamp to 0, which is not a type.
        guard head.count >= 5, head[3] == 0, head[4] != 0 else { return true }
        try readHead(559_903)
        let isDocument = (try? BSONDocument(bytes: head)).map { (try? $0.view.validate()) != nil } ?? false
        return !isDocument
    }

    private mutating func readHead(_ count: Int) throws(ByteStream.Failure) {
        var end = head.count
        head += repeatElement(0, count: count - end)
        defer { head.removeSubrange(end...) }
        while end < count {
            try wait()
            let (free, descriptor) = (end..., descriptor)
            do {
                let read = try unsafe head.withUnsafeMutableBytes { bytes in
                    try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[free]))
                }
                if read == 0 { return }
                end += read
            } catch { throw .system(error as? Errno ?? .ioError) }
        }
    }

    private func readOn(into output: UnsafeMutableRawBufferPointer) throws(ByteStream.Failure) -> Int {
        try wait()
        do {
            return try unsafe descriptor.read(into: output)
        } catch { throw .system(error as? Errno ?? .ioError) }
    }

    /// Waits until a pipe has data or ends, and checks for a stop in the meantime.
    private func wait() throws(ByteStream.Failure) {
        guard size == nil else { return }
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&request, 1, 200) == 0 {
            if isStopped() { throw .stopped }
        }
    }
}
