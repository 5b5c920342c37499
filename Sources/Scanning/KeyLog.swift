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
/// The buffers take 2 MiB, and the list of written blocks takes eight bytes for 8 KiB of records. A search takes eight
/// bytes for each record of a part, and some tens of bytes for each hash that occurs several times.
///
/// `@unchecked` is safe, because one thread fills the object and hands it over only at the end.
@safe final class KeyLog: @unchecked Sendable {
    static let partCount = 256
    private static let blockSize = 8_192
    private static let headSize = 16

    /// The buffers of all parts; `nil` before the first record.
    private var buffer: UnsafeMutableRawBufferPointer?
    /// The number of bytes in the buffer of each part.
    private var sizes = [Int](repeating: 0, count: partCount)
    /// The part and the number of bytes of each block of the file.
    private var blocks: [(part: UInt32, size: UInt32)] = []
    private var file: FileDescriptor?
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
        if sizes[part] + size > Self.blockSize { flush(part) }
        guard size > Self.blockSize else {
            let start = part * Self.blockSize + sizes[part]
            sizes[part] += size
            let target = unsafe space.baseAddress?.advanced(by: start)
            if let target = unsafe target { unsafe Self.write(hash, note, length, id, value, document, to: target) }
            return
        }
        // A long `_id` is a block of its own.
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { unsafe block.deallocate() }
        guard let target = block.baseAddress else { return }
        unsafe Self.write(hash, note, length, id, value, document, to: target)
        write(unsafe [UInt8](block), of: part)
    }

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
    private func buffered(_ part: Int) -> [UInt8] {
        let start = part * Self.blockSize
        return unsafe buffer.map { unsafe [UInt8]($0[start..<start + sizes[part]]) } ?? []
    }

    @inline(never)
    private func flush(_ part: Int) {
        write(buffered(part), of: part)
        sizes[part] = 0
    }

    private func write(_ block: [UInt8], of part: Int) {
        guard failure == nil, !block.isEmpty else { return }
        do throws(Errno) {
            let open = if let file { file } else { try UnnamedFile.open(in: folder) }
            file = open
            try UnnamedFile.write(block, to: open)
            blocks.append((UInt32(part), UInt32(block.count)))
        } catch { failure = error }
    }

    /// Calls `body` with each record of a part: its hash, its note, and its document.
    /// - Throws: `Errno` of the temporary file, or what `body` throws.
    func read(_ part: Int, _ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void) throws {
        if let failure { throw failure }
        var offset = 0
        for block in blocks {
            var start = offset
            offset += Int(block.size)
            guard block.part == part, let file else { continue }
            try Self.read(try UnnamedFile.read(UInt8.self, Int(block.size), from: file, at: &start), body)
        }
        try Self.read(buffered(part), body)
    }

    private static func read(
        _ records: [UInt8], _ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void
    ) throws {
        let bytes = unsafe records.span.bytes
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

/// Finds the hashes in logs that several documents have.
struct SharedKeys {
    /// The records with one hash.
    struct Group {
        fileprivate let first: DocumentKey
        /// Whether the records belong to at least two documents.
        fileprivate(set) var isShared = false
    }

    let logs: [KeyLog]
    /// Returns whether a record counts.
    var isValid: (borrowing BSONView, KeyLog) throws -> Bool = { _, _ in true }

    /// Returns the hashes of one part of the logs that several documents have.
    ///
    /// A source may contain a document twice, with which it shares no hash.
    /// - Throws: `Errno` of a temporary file, or an error of ``isValid``.
    func groups(of part: Int) throws -> [KeyHash: Group] {
        var hashes: [UInt64] = []
        for log in logs { try log.read(part) { hash, _, _ in hashes.append(hash.high) } }
        hashes.sort()
        var repeated: Set<UInt64> = []
        for index in hashes.indices.dropFirst() where hashes[index] == hashes[index - 1] {
            repeated.insert(hashes[index])
        }
        guard !repeated.isEmpty else { return [:] }
        var groups: [KeyHash: Group] = [:]
        for log in logs {
            try log.read(part) { hash, _, document in
                guard repeated.contains(hash.high), try isValid(document, log) else { return }
                guard let own = try DocumentKey(of: document) else { return }
                if let known = groups[hash] {
                    if known.first != own, !known.isShared { groups[hash]?.isShared = true }
                } else {
                    groups[hash] = Group(first: own)
                }
            }
        }
        return groups.filter(\.value.isShared)
    }

    /// Calls `body` with each record of the groups: its hash, its note, and its document.
    func read(_ part: Int, of groups: [KeyHash: Group], _ body: (KeyHash, UInt32, borrowing BSONView) throws -> Void)
        throws
    {
        guard !groups.isEmpty else { return }
        for log in logs {
            try log.read(part) { hash, note, document in
                guard groups[hash] != nil, try isValid(document, log) else { return }
                try body(hash, note, document)
            }
        }
    }
}
