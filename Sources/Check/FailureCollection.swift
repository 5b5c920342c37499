package import BSON
import Files
internal import Foundation
package import Mongo
import Reporting
import SystemPackage

/// The collection of `--failures db:NAME.COLLECTION`, which has one document for each failing document of a check.
///
/// Each document has the ID and the time of its run. Documents of earlier runs are removed when they are too old.
package struct FailureCollection {
    package let namespace: Namespace
    /// The path of a temporary file for the failing documents of the run.
    ///
    /// They are inserted into the collection when the run is complete.
    package let lines = FilePath(NSTemporaryDirectory()).appending("shipshape-failures-\(UUID().uuidString)").string
    private let days: Int
    private let pool: ClientPool

    /// The `_id` of the document that marks a collection as one of failures; it sorts before those of all runs.
    private static let mark = "!shipshape check --failures"
    /// The value of the field `record`, which distinguishes the stored documents from documents of another origin.
    private static let record = "check_failure"
    /// The most documents and bytes that are inserted at once; a single document may have more bytes.
    private static let batch = (documents: 1_000, bytes: 8 << 20)

    package init(_ namespace: Namespace, keeping days: Int, on pool: ClientPool) {
        (self.namespace, self.days, self.pool) = (namespace, days, pool)
    }

    /// Marks the collection as one of failures, before the check reads anything.
    ///
    /// A collection without the mark is refused if it has a document that no check stored in it, because it may be a
    /// collection of the app. The write also shows whether the server accepts the name.
    /// - Throws: ``UsageError``; ``MongoError``.
    package func claim() throws {
        if try pool.client().readableCollection(namespace)?.options["capped"]?.isTrue == true {
            throw UsageError("--failures db:\(namespace): a capped collection loses documents: name another one")
        }
        if try holds(["_id": .string(Self.mark)]) { return }
        guard try !holds(["record": ["$ne": .string(Self.record)]]) else {
            throw UsageError(
                "--failures db:\(namespace): the collection has documents that no check wrote: name one of its own")
        }
        let mark: BSONDocument = ["_id": .string(Self.mark), "record": "check_failures"]
        do {
            try pool.client().collection(namespace).insert([mark], options: ["writeConcern": ["w": "majority"]])
        } catch {
            // Another check may have marked it at the same time.
            if error.code == .duplicateKey { return }
            // A view, a collection of time series, or a validator.
            guard [.commandNotSupportedOnView, .badValue, .documentValidationFailure].contains(error.code) else {
                throw error
            }
            throw UsageError("--failures db:\(namespace): the collection refuses what check stores: \(error)")
        }
    }

    private func holds(_ filter: BSONDocument) throws -> Bool {
        let client = try pool.client()
        var cursor = client.collection(namespace).find(filter, options: ["limit": 1, "projection": ["_id": 1]])
        return try cursor.nextDocument() != nil
    }

    /// Moves the temporary file to the current folder, so that its lines are not lost, and returns its new path.
    /// - Throws: an error if the current folder cannot be written.
    package func keepLines() throws -> String {
        let path = "shipshape-failures-\(UUID().uuidString.prefix(8)).jsonl"
        try FileManager.default.moveItem(atPath: lines, toPath: path)
        return path
    }

    package func removeLines() { try? FileManager.default.removeItem(atPath: lines) }

    /// Stores the failing documents of the run, and removes the stored documents of earlier runs that are too old.
    /// - Parameter schema: the source of the schema, as the operator named it.
    /// - Returns: the ID of the run, and the number of its documents.
    /// - Throws: ``MongoError``; ``InputError`` if the file ``lines`` cannot be read.
    package func store(schema: String, at time: ServerTime) throws -> (run: String, count: Int) {
        let client = try pool.client()
        let collection = client.collection(namespace)
        let run = "\(Self.prefix(time))-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let head: [(String, BSONValue)] = [
            ("record", .string(Self.record)), ("run", .string(run)), ("at", .date(milliseconds: time.milliseconds)),
            ("schema", .string(schema)),
        ]
        var number = 0
        var (documents, bytes): ([BSONDocument], Int) = ([], 0)
        func flush() throws(MongoError) {
            guard !documents.isEmpty else { return }
            try collection.insert(documents, options: ["writeConcern": ["w": "majority"]])
            documents.removeAll(keepingCapacity: true)
            bytes = 0
        }
        let retractions = try Retractions(lines)
        try Self.eachRecord(of: lines) { index, record in
            guard record["record"]?.text == "failure", retractions.allow(record, at: index) else { return }
            number += 1
            // The numbers have leading zeros, so that the `_id`s sort in the order of the lines.
            let id = "\(run)/\(String(10_000_000_000 + number).dropFirst())"
            let document = BSONDocument([("_id", .string(id))] + head + Self.members(of: record))
            if bytes + document.bytes.count > Self.batch.bytes { try flush() }
            documents.append(document)
            bytes += document.bytes.count
            if documents.count >= Self.batch.documents { try flush() }
        }
        try flush()
        let oldest = ServerTime(milliseconds: time.milliseconds - Int64(days) * 86_400_000)
        try collection.delete(
            [
                DeleteStatement(
                    ["_id": ["$lt": .string(Self.prefix(oldest))], "record": .string(Self.record)], isMulti: true)
            ], options: ["writeConcern": ["w": "majority"]])
        return (run, number)
    }

    /// Returns the beginning of the `_id`s of a run whose documents are stored at `time`.
    ///
    /// The `_id`s begin with the time, so those of an earlier run sort before those of a later run.
    private static func prefix(_ time: ServerTime) -> String { time.iso8601.replacing(":", with: "") }

    /// Returns the fields that the stored document takes from a line of the file.
    ///
    /// The `_id` of the failing document becomes the field `document`, because the stored document has its own `_id`.
    private static func members(of record: BSONDocument) -> [(String, BSONValue)] {
        ((try? record.elements()) ?? []).compactMap { name, value in
            switch name {
            case "record": nil
            case "_id": ("document", value)
            default: (name, value)
            }
        }
    }

    /// Calls `body` for each line of a file, with the number of the line, counted from 0, and the document in it.
    ///
    /// Empty lines are skipped and not counted. The last line may lack its newline; if the line is incomplete, this
    /// function throws.
    fileprivate static func eachRecord(of path: String, _ body: (Int, BSONDocument) throws -> Void) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw InputError("the failing documents of this check cannot be read: \(path)")
        }
        defer { try? file.close() }
        var (rest, index) = (Data(), 0)
        while let block = try file.read(upToCount: 1 << 20), !block.isEmpty {
            rest.append(block)
            let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for line in lines.dropLast() where !line.isEmpty {
                try body(index, try BSONDocument(extendedJSON: String(decoding: line, as: UTF8.self)))
                index += 1
            }
            rest = lines.last.map { Data($0) } ?? Data()
        }
        if !rest.isEmpty { try body(index, try BSONDocument(extendedJSON: String(decoding: rest, as: UTF8.self))) }
    }
}

/// The retractions in the temporary file: lines that make earlier lines invalid.
///
/// A line is retracted if its document changed during the check, or if its collection was read again.
private struct Retractions {
    /// The line number of the last retraction of each document and of each collection.
    private var last: [[String]: Int] = [:]

    init(_ path: String) throws {
        try FailureCollection.eachRecord(of: path) { index, record in
            guard record["record"]?.text == "retracted" else { return }
            last[Self.collection(of: record) + [Self.id(of: record)].compactMap(\.self)] = index
        }
    }

    /// Whether `record`, the content of the line `index`, is still valid because no later line retracts it.
    func allow(_ record: BSONDocument, at index: Int) -> Bool {
        guard !last.isEmpty else { return true }
        let collection = Self.collection(of: record)
        let ofDocument = Self.id(of: record).flatMap { last[collection + [$0]] } ?? -1
        return max(ofDocument, last[collection] ?? -1) < index
    }

    private static func collection(of record: BSONDocument) -> [String] {
        [record["database"]?.text ?? "", record["collection"]?.text ?? ""]
    }

    /// Returns the `_id` in a line, as extended JSON; `nil` for a line about a whole collection, which has no `_id`.
    private static func id(of record: BSONDocument) -> String? {
        record["_id"].map { (try? $0.extendedJSON(.canonical)) ?? "\($0.type)" }
    }
}
