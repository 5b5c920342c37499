import BSON
package import Checking
import Glibc
import ServerSchema
import SystemPackage

/// The error that the temporary file for the keys of unique indexes failed.
package struct TemporaryFileError: Error, CustomStringConvertible {
    /// The message, with the remedy.
    package let description: String

    /// Creates the error from its reason.
    package init(_ reason: String) {
        description =
            "the temporary file for the values of unique indexes failed: \(reason): free some room, or set TMPDIR to a "
            + "folder with more"
    }

    /// The least number of bytes of a record.
    private static let recordSize = 30

    /// Throws if the folder for temporary files certainly has too little room for the keys of a collection.
    /// - Parameter documents: The number of documents; `nil` if it is not known.
    package static func checkRoom(for schema: CompiledSchema, documents: Int?) throws {
        var info = statvfs()
        guard let documents, !schema.uniqueKeys.isEmpty,
            unsafe statvfs(UnnamedFile.folder(nil), &info) == 0
        else { return }
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

        /// The number of the index.
        var key: Int { Int(bits >> 16) }
        /// The fault of the document if another document has the key.
        var fault: UniqueFault { UniqueFault(rawValue: UInt8(truncatingIfNeeded: bits >> 12 & 15)) ?? .duplicate }
        var counted: CountedVerdicts { CountedVerdicts(bits: UInt16(truncatingIfNeeded: bits & 0xFFF)) }
    }

    /// A value in a key.
    private enum Part {
        case null
        /// The value of an empty array.
        case undefined
        case value(BSONElement)

        var isMissing: Bool { if case .null = self { true } else { false } }
    }

    /// The place where a path continues.
    private enum Holder {
        case document
        case object(BSONElement)
        case nothing
    }

    private typealias Path = ArraySlice<String>
    private typealias Index = (number: Int, key: UniqueKey, paths: [Path])
    private struct SeveralArrays: Error {}

    /// The recorded keys.
    let keys: KeyLog
    /// The documents that an index refuses because of several arrays, all under one hash.
    let refused: KeyLog
    /// The documents that were counted again after their keys were recorded, all under one hash.
    let recounted: KeyLog
    /// Whether a document may be in several records.
    private(set) var isRepeated: Bool
    private let indexes: [Index]
    private let keepsValues: Bool
    private var unnamed = 0

    /// Creates an empty log; `nil` if the schema has no unique index whose keys the client can compare.
    init?(_ schema: CompiledSchema, options: ScanOptions) {
        guard options.selection.isEmpty, options.sampleSize == nil else { return nil }
        indexes = schema.uniqueKeys.enumerated().filter { $1.unjudged == nil }.map { number, key in
            (number, key, key.paths.map { $0.split(separator: ".").map(String.init)[...] })
        }
        guard !indexes.isEmpty else { return nil }
        keys = KeyLog(folder: options.temporaryFolder)
        refused = KeyLog(folder: options.temporaryFolder)
        recounted = KeyLog(folder: options.temporaryFolder)
        isRepeated = indexes.count > 1
        keepsValues = options.judging.tally.keepsValues
    }

    /// Records the keys of a document that a tally has just counted.
    /// - Throws: ``BSONError`` if the bytes on the path to a value are damaged.
    func add(_ document: borrowing BSONView, _ counted: CountedVerdicts) throws(BSONError) {
        let id = try document.find("_id")
        if id == nil { unnamed += 1 }
        var own =
            id.map { KeyLog.document($0, of: document) }
            ?? BSONDocument([("", .long(Int64(unnamed)))]).bytes
        for index in indexes {
            var parts: [Part] = []
            var value: BSONElement?
            for path in index.paths {
                var rest = path
                guard let element = try Self.follow(&rest, from: .document, in: document) else {
                    parts.append(.null)
                    continue
                }
                if element.type == .array { break }
                value = value ?? element
                parts.append(.value(element))
            }
            if keepsValues, let id { own = KeyLog.document(id, value: value, of: document) }
            guard parts.count == index.paths.count else {
                try expand(index, document, counted, own)
                continue
            }
            if index.key.isSparse, parts.allSatisfy(\.isMissing) { continue }
            let (hash, fault) = try Self.hash(parts, of: index.number, in: document)
            keys.insert(hash, note: Note(key: index.number, fault, counted).bits, own)
        }
    }

    /// Records that a document whose keys are recorded was counted again.
    func note(_ counted: CountedVerdicts, of id: BSONValue) {
        isRepeated = true
        recounted.insert(KeyHash(high: 0, low: 0), note: Note(again: counted).bits, BSONDocument([("_id", id)]).bytes)
    }

    /// Follows a path to its end or to the first array, and returns the value there; `nil` if there is none.
    private static func follow(
        _ path: inout Path, from holder: Holder, in document: borrowing BSONView
    ) throws(BSONError) -> BSONElement? {
        guard let name = path.first else { return nil }
        let found =
            switch holder {
            case .document: try document.find(name)
            case .object(let element): try document.document(element).find(name)
            case .nothing: nil as BSONElement?
            }
        path = path.dropFirst()
        guard let found, !path.isEmpty, found.type != .array else { return found }
        return found.type == .object ? try follow(&path, from: .object(found), in: document) : nil
    }

    private static func hash(
        _ parts: [Part], of index: Int, in document: borrowing BSONView
    ) throws(BSONError) -> (KeyHash, UniqueFault) {
        var fault = UniqueFault.duplicate
        for part in parts {
            switch part {
            case .null: fault = .null
            case .value(let element) where element.type == .null: fault = .null
            case .undefined, .value: break
            }
        }
        let hash = try KeyHash { hasher throws(BSONError) in
            hasher.combine(index)
            for part in parts {
                switch part {
                case .null: hasher.combine(BSONType.null.sortPlace)
                case .undefined: hasher.combine(BSONType.undefined.sortPlace)
                case .value(let element): try hasher.combine(element, of: document)
                }
            }
        }
        return (hash, fault)
    }

    /// Records the keys of a document with an array at an indexed path.
    @inline(never)
    private func expand(
        _ index: Index, _ document: borrowing BSONView, _ counted: CountedVerdicts, _ own: [UInt8]
    ) throws(BSONError) {
        isRepeated = true
        var found: [KeyHash: UniqueFault] = [:]
        let parts = [Part](repeating: .null, count: index.paths.count)
        do {
            try Self.expand(index.paths, parts, from: .document, in: document) { parts in
                if index.key.isSparse, parts.allSatisfy(\.isMissing) { return }
                let (hash, fault) = try Self.hash(parts, of: index.number, in: document)
                // An index has a document's equal keys only once.
                found[hash] = fault
            }
            for (hash, fault) in found {
                keys.insert(hash, note: Note(key: index.number, fault, counted).bits, own)
            }
        } catch let error as BSONError {
            throw error
        } catch {
            // The server makes no keys from two arrays.
            refused.insert(KeyHash(high: 0, low: 0), note: Note(key: index.number, .arrays, counted).bits, own)
        }
    }

    /// Calls `body` with each key of a document.
    /// - Parameters:
    ///   - paths: What is left of each path, from `holder` on; empty for a value that is known already.
    ///   - known: The values of the key as far as they are known.
    private static func expand(
        _ paths: [Path], _ known: [Part], from holder: Holder, in document: borrowing BSONView,
        _ body: ([Part]) throws -> Void
    ) throws {
        var (paths, parts) = (paths, known)
        var array: BSONElement?
        var inside: [Int] = []
        for index in paths.indices where !paths[index].isEmpty {
            guard let element = try follow(&paths[index], from: holder, in: document) else {
                (paths[index], parts[index]) = ([], .null)
                continue
            }
            guard element.type == .array else {
                (paths[index], parts[index]) = ([], .value(element))
                continue
            }
            if let array, array.valueOffset != element.valueOffset { throw SeveralArrays() }
            array = element
            inside.append(index)
        }
        guard let array else { return try body(parts) }
        func visit(_ part: Part, _ holder: Holder) throws {
            for index in inside where paths[index].isEmpty { parts[index] = part }
            try expand(paths, parts, from: holder, in: document, body)
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
    /// The reason why the client does not judge the index, as a clause; `nil` if it does.
    var unjudged: String? {
        if collation != nil { return "the index has a collation, by which only the server compares" }
        let numbers = paths.flatMap { $0.split(separator: ".").dropFirst() }
        return numbers.contains { Int($0) != nil } ? "its path has a number, which may be a place in an array" : nil
    }
}
