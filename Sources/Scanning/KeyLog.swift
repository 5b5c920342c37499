import BSON
import SystemPackage

/// A hash of 96 bits, by which equal keys are found.
///
/// Each process hashes with another seed. Among a hundred billion keys, the probability that any two different ones
/// have the same hash is below 10⁻⁶.
struct KeyHash: Hashable {
    var high: UInt64
    var low: UInt32

    func hash(into hasher: inout Hasher) { hasher.combine(high) }
}

/// Records hashes of keys with the documents that have them, in bounded memory.
///
/// The records are divided into 256 parts by the first byte of their hashes. Each part has a buffer. A full buffer is
/// written to an unnamed file in the folder for temporary files. At the end, one part after another is read.
///
/// The buffers take 2 MiB, and the list of written blocks takes sixteen bytes for 8 KiB of records.
///
/// `@unchecked` is safe, because one thread fills the object and hands it over only at the end. For the same reason,
/// the properties that each record changes are not checked for overlapping accesses.
@safe final class KeyLog: @unchecked Sendable {
    static let partCount = 256
    private static let blockSize = 8_192
    private static let headSize = 16

    /// The buffers of all parts; `nil` before the first record.
    @exclusivity(unchecked) private var buffer: UnsafeMutableRawBufferPointer?
    /// The number of bytes in the buffer of each part.
    @exclusivity(unchecked) private var sizes = [Int](repeating: 0, count: partCount)
    /// The places of each part's blocks in the file.
    private var blocks = [[Range<Int>]](repeating: [], count: partCount)
    private var file: FileDescriptor?
    private var fileSize = 0
    /// The number of records of each part.
    @exclusivity(unchecked) private var counts = [Int](repeating: 0, count: partCount)
    private let folder: String?
    /// The error of the temporary file, after which nothing is recorded; `nil` if there is none.
    private var failure: Errno?

    /// Creates an empty log.
    /// - Parameter folder: The folder of the temporary file; `nil` for the default folder.
    init(folder: String?) { self.folder = folder }

    deinit {
        unsafe buffer?.deallocate()
        try? file?.close()
    }

    /// Adds a record.
    /// - Parameters:
    ///   - note: Bits for the caller's use.
    ///   - id: The `_id` of the document with the key.
    ///   - value: A value of the document, which is kept if it is short; `nil` for none.
    func insert(
        _ hash: KeyHash, note: UInt32 = 0, _ id: BSONElement, value: BSONElement? = nil, of document: borrowing BSONView
    ) {
        let value = value.flatMap { $0.valueLength <= 256 ? $0 : nil }
        let length = 10 + id.valueLength + (value.map { 3 + $0.valueLength } ?? 0)
        let (part, size) = (Int(hash.high >> 56), Self.headSize + length)
        unsafe counts[part] += 1
        if unsafe sizes[part] + size > Self.blockSize { flush(part) }
        guard size > Self.blockSize else {
            let start = unsafe part * Self.blockSize + sizes[part]
            unsafe sizes[part] += size
            let target = unsafe space.baseAddress?.advanced(by: start)
            if let target = unsafe target { unsafe Self.write(hash, note, length, id, value, document, to: target) }
            return
        }
        // A long `_id` is a block of its own.
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { unsafe block.deallocate() }
        guard let target = block.baseAddress else { return }
        unsafe Self.write(hash, note, length, id, value, document, to: target)
        unsafe write(UnsafeRawBufferPointer(block), of: part)
    }

    func count(of part: Int) -> Int { unsafe counts[part] }

    private var space: UnsafeMutableRawBufferPointer {
        if let buffer = unsafe buffer { return unsafe buffer }
        let new = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.partCount * Self.blockSize, alignment: 8)
        unsafe buffer = new
        return unsafe new
    }

    /// Writes a record: hash, note, and a document `{_id, v}`.
    @inline(__always)
    private static func write(
        _ hash: KeyHash, _ note: UInt32, _ length: Int, _ id: BSONElement, _ value: BSONElement?,
        _ document: borrowing BSONView, to target: UnsafeMutableRawPointer
    ) {
        unsafe target.storeBytes(of: hash.high, as: UInt64.self)
        unsafe target.storeBytes(of: hash.low, toByteOffset: 8, as: UInt32.self)
        unsafe target.storeBytes(of: note, toByteOffset: 12, as: UInt32.self)
        unsafe target.storeBytes(of: UInt32(length), toByteOffset: 16, as: UInt32.self)
        unsafe target.storeBytes(of: id.type.rawValue, toByteOffset: 20, as: UInt8.self)
        unsafe target.storeBytes(of: 0x00_64_69_5F, toByteOffset: 21, as: UInt32.self)  // "_id"
        var at = 25
        func copy(_ bytes: RawSpan) {
            unsafe bytes.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                unsafe target.advanced(by: at).copyMemory(from: source, byteCount: bytes.count)
            }
            at += bytes.byteCount
        }
        copy(document.valueBytes(id))
        if let value {
            unsafe target.storeBytes(of: value.type.rawValue, toByteOffset: at, as: UInt8.self)
            unsafe target.storeBytes(of: 0x00_76, toByteOffset: at + 1, as: UInt16.self)  // "v"
            at += 3
            copy(document.valueBytes(value))
        }
        unsafe target.storeBytes(of: 0, toByteOffset: at, as: UInt8.self)
    }

    /// The records of a part that are still in memory.
    private func buffered(_ part: Int) -> UnsafeRawBufferPointer {
        let start = part * Self.blockSize
        guard let buffer = unsafe buffer else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<start + sizes[part]])
    }

    @inline(never)
    private func flush(_ part: Int) {
        unsafe write(buffered(part), of: part)
        unsafe sizes[part] = 0
    }

    private func write(_ block: UnsafeRawBufferPointer, of part: Int) {
        guard failure == nil, unsafe !block.isEmpty else { return }
        do throws(Errno) {
            let open = if let file { file } else { try UnnamedFile.open(in: folder) }
            file = open
            try unsafe UnnamedFile.write(block, to: open)
            blocks[part].append(fileSize..<fileSize + block.count)
            fileSize += block.count
        } catch { failure = error }
    }

    /// Returns the records of a part for several readings, which are in memory if they are at most 1 MiB.
    /// - Throws: `Errno` of the temporary file.
    func records(of part: Int) throws(Errno) -> Records {
        if let failure { throw failure }
        let size = unsafe blocks[part].reduce(buffered(part).count) { $0 + $1.count }
        guard size <= 1 << 20 else { return Records(log: self, part: part, bytes: nil) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for block in blocks[part] { bytes += try read(block) }
        unsafe bytes += buffered(part)
        return Records(log: self, part: part, bytes: bytes)
    }

    struct Records {
        let log: KeyLog
        let part: Int
        fileprivate let bytes: [UInt8]?

        /// Calls `body` with each record: its hash, its note, and its document.
        /// - Throws: `Errno` of the temporary file, or what `body` throws.
        func read(_ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void) throws {
            guard let bytes else { return try log.read(part, body) }
            try KeyLog.read(unsafe bytes.span.bytes, body)
        }
    }

    private func read(_ block: Range<Int>) throws(Errno) -> [UInt8] {
        guard let file else { return [] }
        var start = block.lowerBound
        return try UnnamedFile.read(UInt8.self, block.count, from: file, at: &start)
    }

    /// Calls `body` with each record of a part: its hash, its note, and its document.
    /// - Throws: `Errno` of the temporary file, or what `body` throws.
    func read(_ part: Int, _ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void) throws {
        if let failure { throw failure }
        for block in blocks[part] {
            let records = try read(block)
            try Self.read(unsafe records.span.bytes, body)
        }
        try Self.read(unsafe RawSpan(_unsafeBytes: buffered(part)), body)
    }

    private static func read(
        _ bytes: borrowing RawSpan, _ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void
    ) throws {
        func number(_ at: Int) -> UInt32 { unsafe bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt32.self) }
        var start = 0
        while start < bytes.byteCount {
            let high = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
            let end = start + headSize + Int(number(start + headSize))
            try body(
                KeyHash(high: high, low: number(start + 8)), number(start + 12),
                BSONView(bytes.extracting(start + headSize..<end)))
            start = end
        }
    }
}
