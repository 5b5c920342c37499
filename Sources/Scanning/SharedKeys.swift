import BSON
import SystemPackage

/// Finds the hashes in logs that several documents have.
///
/// A table of the hashes of a part takes about 50 bytes for each of them. A part with more records than
/// ``mostInTable`` is read several times, each time for some of the hashes.
struct SharedKeys: Sendable {
    let logs: [KeyLog]
    /// Returns whether a record counts.
    var isValid: @Sendable (borrowing BSONView, KeyLog) throws -> Bool = { _, _ in true }

    /// The largest number of records whose hashes are in the table at once.
    private static let mostInTable = 1 << 19

    /// Some of the hashes that several documents have, numbered from 0 on.
    struct Groups {
        fileprivate let table: HashTable
        fileprivate let records: [KeyLog.Records]
        fileprivate let isValid: (borrowing BSONView, KeyLog) throws -> Bool

        var count: Int { table.sharedCount }

        /// Calls `body` with each record that has one of the hashes: the hash's number, its note, and its document.
        func read(_ body: (_ group: Int, UInt32, borrowing BSONView) throws -> Void) throws {
            for records in records {
                try records.read { hash, note, document in
                    guard let group = table.group(of: hash), try isValid(document, records.log) else { return }
                    try body(group, note, document)
                }
            }
        }
    }

    /// Calls `body` with the hashes of a part that several documents have.
    ///
    /// A source may contain a document twice, with which it shares no hash.
    /// - Throws: `Errno` of a temporary file, or an error of ``isValid`` or `body`.
    func find(in part: Int, _ body: (Groups) throws -> Void) throws {
        let count = logs.reduce(0) { $0 + $1.count(of: part) }
        let all = try logs.map { log throws(Errno) in try log.records(of: part) }
        let slices = UInt64(count / Self.mostInTable + 1)
        for slice in 0..<slices {
            var table = HashTable(count / Int(slices) * 5 / 4 + 16)
            for records in all {
                try records.read { hash, _, _ in
                    if slices == 1 || hash.high >> 20 % slices == slice { table.insert(hash) }
                }
            }
            guard table.hasRepeated else { continue }
            for records in all {
                try records.read { hash, _, document in
                    guard let place = table.repeated(hash), try isValid(document, records.log) else { return }
                    if let own = try DocumentKey(of: document) { table.add(own, at: place) }
                }
            }
            guard table.sharedCount > 0 else { continue }
            try body(Groups(table: table, records: all, isValid: isValid))
        }
    }
}

/// The hashes of one part, with the numbers of those that several documents have.
private struct HashTable {
    private struct Entry {
        var high: UInt64 = 0
        var low: UInt32 = 0
        /// 0 in a free entry, 1 for a hash that occurred once, 2 for one that occurred again; from 3 on the number of a
        /// shared hash.
        var state: UInt32 = 0
    }

    private var entries: [Entry]
    private let mask: Int
    /// The first document of each repeated hash, by the place of its entry.
    private var first: [Int: DocumentKey] = [:]
    private(set) var hasRepeated = false
    private(set) var sharedCount = 0

    /// Creates an empty table for at most `count` hashes.
    init(_ count: Int) {
        var size = 16
        while size < count * 3 / 2 { size *= 2 }
        entries = [Entry](repeating: Entry(), count: size)
        mask = size - 1
    }

    /// The place of a hash, or the free entry where it belongs.
    @inline(__always)
    private func place(of hash: KeyHash) -> Int {
        var place = Int(truncatingIfNeeded: hash.high) & mask
        while entries[place].state != 0, entries[place].high != hash.high || entries[place].low != hash.low {
            place = (place + 1) & mask
        }
        return place
    }

    @inline(__always)
    mutating func insert(_ hash: KeyHash) {
        let place = place(of: hash)
        if entries[place].state == 0 {
            entries[place] = Entry(high: hash.high, low: hash.low, state: 1)
        } else {
            entries[place].state = 2
            hasRepeated = true
        }
    }

    /// The place of a hash that occurred several times; `nil` for any other.
    func repeated(_ hash: KeyHash) -> Int? {
        let place = place(of: hash)
        return entries[place].state > 1 ? place : nil
    }

    mutating func add(_ document: DocumentKey, at place: Int) {
        guard entries[place].state == 2 else { return }
        guard let known = first[place] else { return first[place] = document }
        guard known != document else { return }
        entries[place].state = UInt32(3 + sharedCount)
        sharedCount += 1
    }

    /// The number of a hash that several documents have; `nil` for any other.
    func group(of hash: KeyHash) -> Int? {
        let state = entries[place(of: hash)].state
        return state > 2 ? Int(state) - 3 : nil
    }
}
