import BSON
import Checking
import Mongo
import Scanning
import ServerSchema
import Synchronization
import TestSupport
import Testing

/// A collection of people, some of whom fail the schema in one of several ways.
struct ChangingPeople: Sendable {
    let database: TestDatabase
    let namespace: Namespace

    static let schema = """
        {
            "bsonType": "object", "required": ["_id", "name"],
            "properties": {
                "_id": { "bsonType": "int" }, "name": { "bsonType": "string" }, "age": { "bsonType": "int" },
                "tags": { "bsonType": "array", "items": { "bsonType": "string" } }
            }
        }
        """
    /// The active schema, in which an age is a string.
    ///
    /// The people who fail it are not the same as those who fail the next schema, ``schema``.
    static let active = """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "age": { "bsonType": "string" } } }
        """

    init(_ database: TestDatabase, count: Int = 25_000) async throws {
        self.database = database
        namespace = database.namespace("person")
        try await database.fill("person", count: count) { Self.person($0, kind: $0 % 7) }
    }

    /// Returns a person of one of seven kinds.
    ///
    /// Kinds 0 to 2 fit the schema, kinds 3 to 5 fail it, and kind 6 might fail it.
    static func person(_ id: Int, kind: Int) -> BSONDocument {
        let id = BSONValue.integer(id)
        return switch kind {
        case 0: ["_id": id, "name": "Ada"]
        case 1: ["_id": id, "name": "Ada", "age": 5]
        case 2: ["_id": id, "name": "Ada", "tags": ["a"]]
        case 3: ["_id": id]
        case 4: ["_id": id, "name": .null, "age": "x"]
        case 5: ["_id": id, "name": 5, "tags": [1, "a"]]
        default: ["_id": id, "name": "Ada", "age": .long(7)]
        }
    }

    func options(threads: Int = 1) throws -> ScanOptions {
        var options = ScanOptions()
        options.threads = threads
        options.judging.tally.includesInfo = false
        options.judging.active = .covered(try CompiledSchema(namespace, Self.active))
        var ledger = LedgerIndex()
        for id in stride(from: 0, to: 30_000, by: 11) { ledger.insert(.integer(id), in: namespace) }
        options.judging.ledger = ledger
        return options
    }

    func scan(_ options: ScanOptions) async throws -> ScanResult {
        try await CollectionScan(try CompiledSchema(namespace, Self.schema), on: database.pool, options: options).run()
    }

    /// Scans the collection, and runs `change` once, after about the first thousand documents have been read.
    func scan(_ options: ScanOptions, changing change: @escaping @Sendable (MongoCollection) throws -> Void)
        async throws
        -> ScanResult
    {
        var options = options
        let (pool, namespace) = (database.pool, namespace)
        let holder = Holder()
        options.listeners.progress = { _ in
            guard !holder.isDone.exchange(true, ordering: .relaxed) else { return }
            do {
                let client = try pool.client()
                try change(client.collection(namespace))
            } catch {
                holder.failure.withLock { $0 = "\(error)" }
            }
        }
        let result = try await scan(options)
        #expect(holder.failure.withLock { $0 } == nil)
        let wasChanged = holder.isDone.load(ordering: .relaxed)
        #expect(wasChanged)
        return result
    }
}

private final class Holder: Sendable {
    let isDone = Atomic<Bool>(false)
    let failure = Mutex<String?>(nil)
}

/// The parts of a tally that do not depend on the order in which the documents were read.
struct TallyDigest: Equatable {
    let counts: DocumentCounts
    let groups: [String: [Int]]

    init(_ tally: Tally) {
        counts = tally.counts
        let pairs = tally.violationGroups.map { ("\($0.violation)", [$0.count, $0.newCount ?? -1]) }
        groups = Dictionary(uniqueKeysWithValues: pairs)
    }
}

extension ScanResult {
    /// Expects that the result shows all documents as they were at one moment.
    ///
    /// A server before 5.0 cannot read all documents as of one moment. In this case, expects that the result says so.
    func expectOneMoment(sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws {
        let isPossible = try await Mongod.build.isAtLeast(5)
        #expect((clusterTime != nil) == isPossible, sourceLocation: sourceLocation)
        #expect(missing.map(\.guarantee) == (isPossible ? [] : [.oneMoment]), sourceLocation: sourceLocation)
    }
}
