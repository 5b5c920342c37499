import BSON
import SystemPackage

/// A hash of 96 bits, by which equal keys are found.
///
/// Each process hashes with another seed. Among a hundred billion keys, the probability that any two different ones
/// have the same hash is below 10⁻⁶.
struct KeyHash: Hashable {
    var high: UInt64
    var low: UInt32

    /// Creates the hash of what `combine` adds to both of two hashers.
    init(_ combine: (inout Hasher) throws(BSONError) -> Void) throws(BSONError) {
        var (first, second) = (Hasher(), Hasher())
        second.combine(UInt8(1))
        try combine(&first)
        try combine(&second)
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt32(truncatingIfNeeded: second.finalize())
    }

    /// Creates the hash of a record's document, which is that of its `_id`.
    init(of document: borrowing BSONView) throws(BSONError) {
        let id = try document.find("_id")
        try self.init { hasher throws(BSONError) in
            if let id { try hasher.combine(id, of: document) } else { hasher.combine(document.bytes) }
        }
    }

    init(high: UInt64, low: UInt32) { (self.high, self.low) = (high, low) }

    func hash(into hasher: inout Hasher) { hasher.combine(high) }
}

/// Records hashes of keys with the documents that have them, in bounded memory.
///
/// The records are divided into 256 parts by the first byte of their hashes. Each part has a buffer. A full buffer is
/// written to an unnamed file in the folder for temporary files. At the end, one part after another is read.
///
/// The buffers take 2 MiB, and the list of written blocks takes eight bytes for 8 KiB of records. A search takes some
/// tens of bytes for each hash of one part: a hundred million different hashes take about 20 MiB.
///
/// `@unchecked` is safe, because one thread fills the object and hands it over only at the end.
final class KeyLog: @unchecked Sendable {
    static let partCount = 256
    private static let blockSize = 8_192
    private static let headSize = 16

    private var buffers: [[UInt8]] = Array(repeating: [], count: partCount)
    /// The part and the number of bytes of each block of the file.
    private var blocks: [(part: UInt32, size: UInt32)] = []
    private var file: FileDescriptor?
    private let folder: String?
    /// The error of the temporary file, after which nothing is recorded; `nil` if there is none.
    private var failure: Errno?

    /// Creates an empty log.
    /// - Parameter folder: The folder of the temporary file; `nil` for the default folder.
    init(folder: String?) { self.folder = folder }

    deinit { try? file?.close() }

    /// The number of bytes that the object holds in memory between two calls.
    var heldBytes: Int { blocks.capacity * 8 + buffers.reduce(0) { $0 + $1.capacity } }

    /// Adds a record.
    /// - Parameters:
    ///   - note: Bits for the caller's use.
    ///   - document: The bytes of a BSON document, which has the `_id` of the document with the key.
    func insert(_ hash: KeyHash, note: UInt32 = 0, _ document: [UInt8]) {
        let part = Int(hash.high >> 56)
        unsafe withUnsafeBytes(of: (hash.high, hash.low, note)) { unsafe buffers[part] += $0 }
        buffers[part] += document
        if buffers[part].count >= Self.blockSize { write(part) }
    }

    @inline(never)
    private func write(_ part: Int) {
        defer { buffers[part].removeAll(keepingCapacity: true) }
        guard failure == nil else { return }
        do throws(Errno) {
            let open = if let file { file } else { try UnnamedFile.open(in: folder) }
            file = open
            try UnnamedFile.write(buffers[part], to: open)
            blocks.append((UInt32(part), UInt32(buffers[part].count)))
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
        try Self.read(buffers[part], body)
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

    /// Returns the bytes of a document with the `_id` of another document and, if it is short, with one of its values.
    static func document(_ id: BSONElement, value: BSONElement? = nil, of document: borrowing BSONView) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(10 + id.valueLength)
        bytes += [0, 0, 0, 0, id.type.rawValue]
        bytes += "_id".utf8
        bytes.append(0)
        unsafe document.valueBytes(id).withUnsafeBytes { unsafe bytes += $0 }
        if let value, value.valueLength <= 256 {
            bytes.append(value.type.rawValue)
            bytes += "value".utf8
            bytes.append(0)
            unsafe document.valueBytes(value).withUnsafeBytes { unsafe bytes += $0 }
        }
        bytes.append(0)
        for place in 0..<4 { bytes[place] = UInt8(truncatingIfNeeded: bytes.count >> (8 * place)) }
        return bytes
    }
}

/// Finds the hashes in logs that several documents have.
struct SharedKeys {
    /// The records with one hash.
    struct Group {
        fileprivate let first: KeyHash
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
        var groups: [KeyHash: Group] = [:]
        for log in logs {
            try log.read(part) { hash, _, document in
                guard try isValid(document, log) else { return }
                let own = try KeyHash(of: document)
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
