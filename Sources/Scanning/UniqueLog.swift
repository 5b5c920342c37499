import BSON
package import Checking
import Glibc
import ServerSchema
import SystemPackage

/// The error that the temporary file for the keys of unique indexes failed.
package struct TemporaryFileError: Error, CustomStringConvertible {
    /// The message, with the remedy.
    package let description: String

    package init(_ reason: String) {
        description =
            "the temporary file for the values of unique indexes failed: \(reason): set TMPDIR to a folder with more "
            + "room"
    }

    /// The least number of bytes of a record.
    private static let recordSize = 30

    /// Throws if the folder for temporary files certainly has too little room for the keys of a collection.
    /// - Parameter documents: The number of documents; `nil` if it is not known.
    package static func checkRoom(for schema: CompiledSchema, documents: Int?) throws {
        var info = statvfs()
        guard let documents, !schema.uniqueKeys.isEmpty else { return }
        let folder = UnnamedFile.folder(nil)
        guard unsafe statvfs(folder, &info) == 0 else { throw Self("\(folder): \(Errno(rawValue: errno))") }
        let (free, needed) = (Int(info.f_bavail * info.f_frsize), documents * schema.uniqueKeys.count * recordSize)
        guard free < needed else { return }
        throw Self("it needs at least \(needed >> 20) MiB, and \(free >> 20) MiB are free")
    }
}

/// Records the keys of documents in the unique indexes of a collection.
///
/// The keys are those that the server makes: an array has one key for each of its elements, and a missing value is
/// null. Source: `btree_key_generator.cpp` in mongod 6.0.
///
/// `@unchecked` is safe, because one thread fills the object and hands it over only at the end.
final class UniqueLog: @unchecked Sendable {
    /// The facts in a record of the log, in 32 bits.
    struct Note {
        let bits: UInt32

        init(bits: UInt32) { self.bits = bits }

        init(key: Int, _ fault: UniqueFault, _ counted: CountedVerdicts) {
            bits = UInt32(key) << 16 | UInt32(fault.rawValue) << 12 | UInt32(counted.bits)
        }

        /// Notes that a document was counted again, under other verdicts than when its keys were recorded.
        init(again counted: CountedVerdicts) { bits = UInt32(UInt16.max) << 16 | UInt32(counted.bits) }

        /// Whether the note has the verdicts of a document, and no key.
        var isAgain: Bool { key == UInt16.max }

        /// The index and the fault.
        var kind: UInt32 { bits >> 12 }
        var key: Int { Int(bits >> 16) }
        /// The fault of the document if another document has the key.
        var fault: UniqueFault { UniqueFault(rawValue: UInt8(truncatingIfNeeded: bits >> 12 & 15)) ?? .duplicate }
        var counted: CountedVerdicts { CountedVerdicts(bits: UInt16(truncatingIfNeeded: bits & 0xFFF)) }
    }

    private enum Part {
        case null
        /// The value of an empty array.
        case undefined
        case value(BSONElement)
    }

    private struct Key {
        var hasher = KeyHasher()
        var fault = UniqueFault.duplicate
        /// Whether all values so far are missing.
        var isMissing = true

        init(_ index: Int) { hasher.combine(index) }

        @inline(__always)
        mutating func add(_ part: Part, of document: borrowing BSONView) throws(BSONError) {
            if case .null = part {} else { isMissing = false }
            switch part {
            case .null: hasher.combine(empty: .null)
            case .undefined: hasher.combine(empty: .undefined)
            case .value(let element):
                try hasher.combine(element, of: document)
                guard element.type == .null else { return }
            }
            if case .undefined = part { return }
            fault = .null
        }
    }

    /// The place where a path continues.
    private enum Holder {
        case document
        case object(BSONElement)
        case nothing
    }

    /// The numbers of a path's names in ``names``.
    private typealias Path = Range<Int>
    /// An index, without references that would be counted for each document.
    private struct Index {
        let number: Int
        let isSparse: Bool
        /// The numbers of the index's paths in ``paths``.
        let paths: Range<Int>
    }
    private struct SeveralArrays: Error {}

    let keys: KeyLog
    /// The documents that an index refuses because of several arrays, all under one hash.
    let refused: KeyLog
    /// The documents that were counted again after their keys were recorded, all under one hash.
    let recounted: KeyLog
    /// Whether a document may be in several records.
    private(set) var isRepeated: Bool
    private let indexes: [Index]
    private let paths: [Path]
    private let names: [String]
    private let keepsValues: Bool
    private var unnamed: Int64 = 0

    /// Creates an empty log; `nil` if the schema has no unique index that the scan judges.
    ///
    /// The documents of indexes that the server judges are recorded with their answers only.
    init?(_ schema: CompiledSchema, options: ScanOptions) {
        guard options.selection.isEmpty, options.sampleSize == nil else { return nil }
        var (indexes, paths, names) = ([Index](), [Path](), [String]())
        let judged = schema.uniqueKeys.enumerated().filter { $1.unjudged == nil }
        guard !judged.isEmpty else { return nil }
        for (number, key) in judged where !key.needsServer {
            let firstPath = paths.count
            for path in key.paths {
                let firstName = names.count
                names += path.split(separator: ".").map(String.init)
                paths.append(firstName..<names.count)
            }
            indexes.append(Index(number: number, isSparse: key.isSparse, paths: firstPath..<paths.count))
        }
        (self.indexes, self.paths, self.names) = (indexes, paths, names)
        keys = KeyLog(folder: options.temporaryFolder)
        refused = KeyLog(folder: options.temporaryFolder)
        recounted = KeyLog(folder: options.temporaryFolder)
        isRepeated = judged.count > 1
        keepsValues = options.judging.tally.keepsValues
    }

    /// Records the keys of a document that a tally has just counted.
    /// - Throws: ``BSONError`` if the bytes on the path to a value are damaged.
    func add(_ document: borrowing BSONView, _ counted: CountedVerdicts) throws(BSONError) {
        guard let id = try document.find("_id") else {
            // A document without an `_id`, in an export, gets one that no other document has.
            unnamed += 1
            let fields = try BSONDocument(copying: document).elements()
            let named = BSONDocument([("_id", .long(.min + unnamed))] + fields)
            return try add(named.view, counted)
        }
        for number in indexes.indices { try add(document, id, indexes[number], counted) }
    }

    @inline(__always)
    private func add(
        _ document: borrowing BSONView, _ id: BSONElement, _ index: Index, _ counted: CountedVerdicts
    ) throws(BSONError) {
        var key = Key(index.number)
        var value: BSONElement?
        for path in index.paths {
            var at = paths[path].lowerBound
            let element = try follow(paths[path], &at, from: .document, in: document)
            if element?.type == .array { return try expand(index, document, id, counted) }
            value = value ?? element
            try key.add(element.map { .value($0) } ?? .null, of: document)
        }
        record(key, of: index, id, value, document, counted)
    }

    /// Records that an index refuses a document by the server's answer.
    /// - Parameter shared: The number of the key that several documents have.
    func add(_ answer: ServerKeys.Answer, of index: Int, shared: Int, _ counted: CountedVerdicts) {
        let view = answer.document.view
        guard let id = try? view.find("_id") else { return }
        isRepeated = true
        var hasher = KeyHasher()
        hasher.combine(index)
        hasher.combine(shared)
        let note = Note(key: index, answer.fault, counted).bits
        guard answer.fault != .arrays else { return refused.insert(KeyHash(high: 0, low: 0), note: note, id, of: view) }
        keys.insert(hasher.hash, note: note, id, value: try? view.find("v"), of: view)
    }

    /// Records that a document whose keys are recorded was counted again.
    func note(_ counted: CountedVerdicts, of id: BSONValue) {
        let named = BSONDocument([("_id", id)])
        guard let element = try? named.view.find("_id") else { return }
        isRepeated = true
        recounted.insert(KeyHash(high: 0, low: 0), note: Note(again: counted).bits, element, of: named.view)
    }

    @inline(__always)
    private func record(
        _ key: Key, of index: Index, _ id: BSONElement, _ value: BSONElement?, _ document: borrowing BSONView,
        _ counted: CountedVerdicts
    ) {
        if key.isMissing, index.isSparse { return }
        keys.insert(
            key.hasher.hash, note: Note(key: index.number, key.fault, counted).bits, id,
            value: keepsValues ? value : nil, of: document)
    }

    /// Returns the value at a path, or the first array on it; `nil` if there is none.
    /// - Parameter at: The place of the next name of the path, which is moved to the name after the value.
    private func follow(
        _ path: Path, _ at: inout Int, from holder: Holder, in document: borrowing BSONView
    ) throws(BSONError) -> BSONElement? {
        let name = names[at]
        let found =
            switch holder {
            case .document: try document.find(name)
            case .object(let element): try document.document(element).find(name)
            case .nothing: nil as BSONElement?
            }
        at += 1
        guard let found, at < path.upperBound, found.type != .array else { return found }
        return found.type == .object ? try follow(path, &at, from: .object(found), in: document) : nil
    }

    /// Records the keys of a document with an array at an indexed path.
    @inline(never)
    private func expand(
        _ index: Index, _ document: borrowing BSONView, _ id: BSONElement, _ counted: CountedVerdicts
    ) throws(BSONError) {
        isRepeated = true
        // An index has a document's equal keys only once.
        var found: [KeyHash: Key] = [:]
        do {
            let parts = [Part?](repeating: nil, count: index.paths.count)
            let places = paths[index.paths].map(\.lowerBound)
            try expand(Array(paths[index.paths]), places, parts, from: .document, in: document) { parts in
                var key = Key(index.number)
                for part in parts { try key.add(part ?? .null, of: document) }
                found[key.hasher.hash] = key
            }
        } catch let error as BSONError {
            throw error
        } catch {
            // The server makes no keys from two arrays.
            let note = Note(key: index.number, .arrays, counted)
            return refused.insert(KeyHash(high: 0, low: 0), note: note.bits, id, of: document)
        }
        for key in found.values { record(key, of: index, id, nil, document, counted) }
    }

    /// Calls `body` with each key of a document.
    /// - Parameters:
    ///   - places: The next name of each path, from `holder` on.
    ///   - known: The values of the key that are known already.
    private func expand(
        _ paths: [Path], _ places: [Int], _ known: [Part?], from holder: Holder, in document: borrowing BSONView,
        _ body: ([Part?]) throws -> Void
    ) throws {
        var (places, parts) = (places, known)
        var array: BSONElement?
        var inside: [Int] = []
        for index in paths.indices where parts[index] == nil {
            let element = try follow(paths[index], &places[index], from: holder, in: document)
            guard let element, element.type == .array else {
                parts[index] = element.map { .value($0) } ?? .null
                continue
            }
            if let array, array.valueOffset != element.valueOffset { throw SeveralArrays() }
            array = element
            inside.append(index)
        }
        guard let array else { return try body(parts) }
        func visit(_ part: Part, _ holder: Holder) throws {
            for index in inside where places[index] == paths[index].upperBound { parts[index] = part }
            try expand(paths, places, parts, from: holder, in: document, body)
        }
        let content = try document.document(array)
        if content.isEmpty { return try visit(.undefined, .nothing) }
        var position = content.firstPosition
        while let element = try content.next(&position) {
            try visit(.value(element), element.type == .object ? .object(element) : .nothing)
        }
    }
}

extension UniqueKey {
    /// Whether the index has a collation or a filter, which only the server applies.
    var needsServer: Bool { filter != nil || collation.map { $0["locale"] != "simple" } ?? false }

    /// The reason why no scan judges the index, as a clause; `nil` if scans do.
    var unjudged: String? {
        let numbers = paths.flatMap { $0.split(separator: ".").dropFirst() }
        return numbers.contains { Int($0) != nil } ? "its path has a number, which may be a place in an array" : nil
    }
}
