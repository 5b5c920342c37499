import BSON
package import Checking
import Foundation
import Mongo
import Synchronization

/// Simulates a sync engine's ledger of unsynced documents, which is late by a chosen time.
///
/// It follows the changes of a collection, judges each document by the active schema with the program's checker, and
/// writes the ledger late. It also keeps the highest number of unsynced documents so far.
package final class LedgerSimulator: Sendable {
    /// The properties of the ledger: how late it is, and whether it drops entries.
    package struct Behaviour: Sendable {
        /// The time from a change until the ledger shows it.
        ///
        /// The real time may be longer by up to a second, because the server's times are whole seconds.
        package var lag: Duration
        /// Whether the ledger drops the entry of a document that was repaired or deleted.
        package var removesEntries: Bool

        /// Makes the properties of a ledger, which keeps its entries unless `removesEntries` is `true`.
        package init(lag: Duration, removesEntries: Bool = false) {
            self.lag = lag
            self.removesEntries = removesEntries
        }
    }

    struct State {
        var active: CompiledSchema
        var counts = LedgerCounts()
        var isOpen = false
        var isStopped = false
        /// The number of changes that the ledger does not show yet.
        var waiting = 0
        /// The time at which the first waiting change must be in the ledger; `nil` if no change waits.
        var due: Date?
        /// The cluster time up to which the change stream was read.
        var time: ClusterTime?
    }

    private let state: Mutex<State>
    private let database: TestDatabase
    private let namespace: Namespace
    private let ledger: Namespace
    private let behaviour: Behaviour

    private init(
        _ database: TestDatabase, _ collection: String, ledger: String, active: CompiledSchema, _ behaviour: Behaviour
    ) {
        self.database = database
        namespace = database.namespace(collection)
        self.ledger = database.namespace(ledger)
        self.behaviour = behaviour
        state = Mutex(State(active: active))
    }

    /// Simulates a ledger while `body` runs.
    /// - Parameters:
    ///   - ledger: the collection of the ledger, in the same database.
    ///   - collection: the collection that syncs.
    package static func keeping<R>(
        _ ledger: String, of collection: String, in database: TestDatabase, active: CompiledSchema,
        _ behaviour: Behaviour, _ body: (LedgerSimulator) async throws -> R
    ) async throws -> R {
        let simulator = LedgerSimulator(database, collection, ledger: ledger, active: active, behaviour)
        async let following: Void = simulator.follow()
        do {
            try await waitUntil("the change stream is open") { simulator.state.withLock { $0.isOpen } }
            let result = try await body(simulator)
            simulator.state.withLock { $0.isStopped = true }
            try await following
            return result
        } catch {
            simulator.state.withLock { $0.isStopped = true }
            try await following
            throw error
        }
    }

    /// The highest number of unsynced documents so far.
    ///
    /// A document counts as unsynced if the ledger shows it, or would show it if the ledger were not late.
    package var highest: Int { state.withLock { $0.counts.highest } }

    /// Makes another schema the active one, and checks the unsyncable documents against that schema.
    package func deploy(_ schema: CompiledSchema) throws { try state.withLock { try $0.deploy(schema) } }

    /// Waits until the ledger shows all changes so far.
    package func catchUp() async throws { try await wait { $0.waiting == 0 } }

    /// Waits until the ledger shows every change that is older than the simulator's lag.
    ///
    /// On a busy machine, the simulator may write the ledger later than the lag allows.
    package func keepUp() async throws { try await wait { $0.due.map { $0 > .now } ?? true } }

    /// Waits until the simulator has read all changes so far and `condition` holds.
    private func wait(until condition: (State) -> Bool) async throws {
        let reply = try await database.run(["ping": 1])
        guard case .timestamp(let now)? = reply["operationTime"] else {
            throw TestSupportError("the server does not report its time")
        }
        try await waitUntil("the ledger has caught up") {
            state.withLock { $0.time.map { $0.rawValue >= now } == true && condition($0) }
        }
    }
}

extension LedgerSimulator {
    /// A change that the ledger does not show yet.
    fileprivate struct Change {
        var id: BSONValue
        var document: BSONDocument?
        var due: Date
    }

    private func follow() async throws {
        try await database.pool.run { [self] client in
            var stream = client.collection(namespace).watch(
                [["$project": ["fullDocument": 1, "documentKey": 1, "operationType": 1, "clusterTime": 1]]],
                options: ["fullDocument": "updateLookup", "maxAwaitTimeMS": 20, "batchSize": 1_000])
            var changes: [Change] = []
            _ = try stream.next()
            state.withLock { $0.isOpen = true }
            while !state.withLock({ $0.isStopped }) {
                let change = try next(&stream)
                if let change {
                    changes.append(change)
                    try state.withLock {
                        try $0.take(change.id, change.document)
                        $0.note(changes)
                    }
                }
                let time = stream.resumeToken?.time
                state.withLock { $0.time = time ?? $0.time }
                // A real ledger lags during a burst of changes. The simulator therefore writes its ledger only when no
                // change has arrived, or when the number of waiting changes is a multiple of 256.
                if change == nil || changes.count % 256 == 0 { try write(&changes, client) }
            }
        }
    }

    private func next(_ stream: inout ChangeStream) throws -> Change? {
        guard let view = try stream.next() else { return nil }
        let event = BSONDocument(copying: view)
        guard let id = event["documentKey"]?.document?["_id"], case .timestamp(let time)? = event["clusterTime"] else {
            return nil
        }
        let due = TimeInterval(time >> 32) + 1 + behaviour.lag / .seconds(1)
        return Change(id: id, document: event["fullDocument"]?.document, due: Date(timeIntervalSince1970: due))
    }

    /// Adds documents to the ledger and removes others, for all changes that are now due.
    private func write(_ changes: inout [Change], _ client: borrowing Client) throws {
        let due = changes.prefix { $0.due <= .now }
        guard !due.isEmpty else { return }
        let (added, removed) = try state.withLock { state in
            try state.apply(due.map { ($0.id, $0.document) }, removesEntries: behaviour.removesEntries)
        }
        let entries = added.map { id -> BSONDocument in
            [
                "appId": "simulated", "documentId": id, "reason": "invalid schema",
                "ns": ["db": .string(namespace.database), "coll": .string(namespace.collection)],
            ]
        }
        if !removed.isEmpty {
            _ = try client.runCommand(
                [
                    "delete": .string(ledger.collection),
                    "deletes": [["q": ["documentId": ["$in": .array(of: removed)]], "limit": 0]],
                ], on: ledger.database)
        }
        // A document that was repaired and fails again is in both `removed` and `entries`, so the entries are inserted
        // last.
        if !entries.isEmpty { _ = try client.collection(ledger).insertMany(entries) }
        changes.removeFirst(due.count)
        state.withLock { $0.note(changes) }
    }
}

extension LedgerSimulator.State {
    mutating func take(_ id: BSONValue, _ document: BSONDocument?) throws {
        counts.changed(id, to: document, fails: try fails(document))
    }

    fileprivate mutating func note(_ changes: [LedgerSimulator.Change]) {
        (waiting, due) = (changes.count, changes.first?.due)
    }

    /// Updates the counts, and returns the documents to add to the ledger and the documents to remove from it.
    mutating func apply(
        _ changes: [(id: BSONValue, document: BSONDocument?)], removesEntries: Bool
    ) throws -> (added: [BSONValue], removed: [BSONValue]) {
        var (added, removed): ([BSONValue], [BSONValue]) = ([], [])
        for (id, document) in changes {
            if try fails(document) {
                if counts.show(id) { added.append(id) }
            } else if removesEntries, counts.forget(id) {
                removed.append(id)
                added.removeAll { $0 == id }
            }
        }
        return (added, removed)
    }

    mutating func deploy(_ schema: CompiledSchema) throws {
        active = schema
        try counts.judgeAgain { try schema.check($0.view) == .certain }
    }

    private func fails(_ document: BSONDocument?) throws -> Bool {
        try document.map { try active.check($0.view) == .certain } ?? false
    }
}
