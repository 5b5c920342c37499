internal import SystemPackage

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The bytes of a file, a pipe or standard input; what is compressed with gzip is undone on the way.
struct ByteStream: ~Copyable {
    /// Why no more bytes come.
    enum Failure: Error {
        case system(Errno)
        case stopped
        case endsInsideOfGzip
        case gzip(Inflater.Damage)
    }

    /// The bytes of the source itself; `nil` when it has no end that is known, as a pipe.
    let fileSize: Int64?
    /// Whether gzip is undone.
    let isCompressed: Bool

    private var source: RawSource
    private var inflater: Inflater?

    /// Opens a file; `nil` stands for standard input.
    /// - Parameter isStopped: asked now and then while a pipe has nothing to give.
    init(_ path: FilePath?, isStopped: @escaping @Sendable () -> Bool) throws(Failure) {
        var source = try RawSource(path, isStopped: isStopped)
        isCompressed = try source.beginsAsGzip()
        fileSize = source.size
        inflater = isCompressed ? Inflater() : nil
        self.source = source
    }

    /// Gives the next bytes, at least one; 0 at the end.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        // Out and in again: what is optional and not copyable cannot be changed in its place.
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

/// An open file, of which the first bytes can be looked at before they are given.
struct RawSource: ~Copyable {
    /// The bytes that it holds; `nil` when that is not known, as of a pipe.
    let size: Int64?

    private let descriptor: FileDescriptor
    private let isOwner: Bool
    private let isStopped: @Sendable () -> Bool
    /// What was looked at.
    private var head: [UInt8] = []
    private var headGiven = 0

    /// Opens a file; `nil` stands for standard input.
    init(_ path: FilePath?, isStopped: @escaping @Sendable () -> Bool) throws(ByteStream.Failure) {
        let descriptor: FileDescriptor
        do {
            descriptor = if let path { try FileDescriptor.open(path, .readOnly) } else { .standardInput }
        } catch { throw .system(error as? Errno ?? .ioError) }
        self.descriptor = descriptor
        self.isStopped = isStopped
        isOwner = path != nil
        // Standard input may stand anywhere in its file: it is read on from there.
        size = isOwner ? try? descriptor.seek(offset: 0, from: .end) : nil
        if size != nil { _ = try? descriptor.seek(offset: 0, from: .start) }
    }

    deinit { if isOwner { try? descriptor.close() } }

    /// Gives the next bytes, at least one; 0 at the end.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(ByteStream.Failure) -> Int {
        guard headGiven < head.count else { return try unsafe readOn(into: output) }
        let count = min(output.count, head.count - headGiven)
        unsafe output.copyBytes(from: head[headGiven..<headGiven + count])
        headGiven += count
        return count
    }

    /// Whether the source begins as gzip does.
    ///
    /// A BSON document of 559,903 bytes begins so, too: it is one when all of its bytes say so.
    mutating func beginsAsGzip() throws(ByteStream.Failure) -> Bool {
        try readHead(4)
        guard head.starts(with: [0x1F, 0x8B, 8]) else { return false }
        try readHead(5)
        // gzip's time stamp stands where the type of the document's first element would; most writers leave it empty.
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

    /// Waits until a pipe has something to give or ends, so that a stop is not left unheard meanwhile.
    private func wait() throws(ByteStream.Failure) {
        guard size == nil else { return }
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&request, 1, 200) == 0 {
            if isStopped() { throw .stopped }
        }
    }
}
