import BSON
import Checking
import Mongo
import Scanning
import ServerSchema
import Synchronization
import TestSupport

/// A kind of change that a test makes to a document of ``ChangingPeople`` during a scan.
enum ChangeKind: CaseIterable, Sendable {
    case insert, fail, failOtherwise, fit, replace, delete, deleteAndInsert, move, retype, touchTwice

    func apply(to id: Int, _ collection: MongoCollection) throws {
        let filter: BSONDocument = ["_id": .integer(id)]
        let delete = DeleteStatement(filter)
        func update(_ change: BSONValue) throws { try collection.update([UpdateStatement(filter, change)]) }
        func insert(_ document: BSONDocument) throws { _ = try collection.insert([document]) }
        switch self {
        case .insert: try insert(ChangingPeople.person(id + 100_000, kind: id % 7))
        case .fail: try update(["$unset": ["name": 1]])
        case .failOtherwise: try update(["$set": ["age": "x", "tags": [1]]])
        case .fit: try update(["$set": ["name": "Ada"], "$unset": ["age": 1, "tags": 1]])
        case .replace: try update(.object(ChangingPeople.person(id, kind: (id + 3) % 7)))
        case .delete: try collection.delete([delete])
        case .deleteAndInsert:
            try collection.delete([delete])
            try insert(ChangingPeople.person(id, kind: (id + 2) % 7))
        case .move:
            try collection.delete([delete])
            try insert(ChangingPeople.person(id + 200_000, kind: id % 7))
        case .retype:
            try collection.delete([delete])
            try insert(["_id": .double(Double(id)), "name": "Ada"])
        case .touchTwice:
            try Self.fail.apply(to: id, collection)
            try Self.fit.apply(to: id, collection)
        }
    }
}

/// A writer of random changes during a scan, which remembers each document after its write and the time of the write.
final class ChangeHistory: Sendable {
    private struct Entry {
        var time: UInt64
        var id: Int
        /// The document after the write, or `nil` after a deletion.
        var document: BSONDocument?
    }

    private let people: ChangingPeople
    private let entries = Mutex<[Entry]>([])
    private let isOver = Atomic<Bool>(false)

    init(_ people: ChangingPeople) { self.people = people }

    /// Scans the collection while another thread writes to it.
    ///
    /// The writes begin before the scan and end after it.
    func scanWhileWriting(_ options: ScanOptions) async throws -> ScanResult {
        async let writing: Void = people.database.pool.run { client in try self.write(client) }
        try await waitUntil("writes are under way") { self.entries.withLock { $0.count > 20 } }
        let before = entries.withLock(\.count)
        let result = try await people.scan(options)
        let after = entries.withLock(\.count)
        try await waitUntil("writes went on") { self.entries.withLock { $0.count > after + 20 } }
        isOver.store(true, ordering: .relaxed)
        try await writing
        _ = before
        return result
    }

    private func write(_ client: borrowing Client) throws {
        let session = try client.startSession()
        var random = SystemRandomNumberGenerator()
        let name = people.namespace.collection
        while !isOver.load(ordering: .relaxed) {
            let id = Int.random(in: 0..<26_000, using: &random)
            let kind = Int.random(in: 0..<9, using: &random)
            let document = kind < 7 ? ChangingPeople.person(id, kind: kind) : nil
            let filter: BSONValue = ["_id": .integer(id)]
            let command: BSONDocument =
                document.map {
                    ["update": .string(name), "updates": [["q": filter, "u": .object($0), "upsert": true]]]
                } ?? ["delete": .string(name), "deletes": [["q": filter, "limit": 1]]]
            try client.runWriteCommand(command, on: people.namespace.database, options: try session.options())
            let entry = Entry(time: session.operationTime, id: id, document: document)
            entries.withLock { $0.append(entry) }
        }
    }

    /// Returns the tally that is expected for the documents as they were at the given time.
    ///
    /// The result also has the number of writes up to that time, and the number of later writes.
    func tally(at time: ClusterTime, _ options: ScanOptions) throws -> (Tally, passed: Int, later: Int) {
        var documents: [Int: BSONDocument] = [:]
        for id in 0..<25_000 { documents[id] = ChangingPeople.person(id, kind: id % 7) }
        let entries = entries.withLock(\.self)
        let passed = entries.filter { $0.time <= time.rawValue }
        for entry in passed { documents[entry.id] = entry.document }
        var tally = Tally(
            try CompiledSchema(people.namespace, ChangingPeople.schema), active: options.judging.active,
            options: options.judging.tally)
        for document in documents.values { try tally.add(document.view, ledger: options.judging.ledger) }
        return (tally, passed.count, entries.count - passed.count)
    }
}
