import BSON
import Mongo
import Synchronization
import TestSupport

/// Clients who count visits in the documents of `people`, and measure how long their updates take.
final class VisitingClients: Sendable {
    private struct State {
        var visits = 0
        var longest = Duration.zero
    }

    private let database: TestDatabase
    private let documents: Int
    private let pause: Duration
    private let isOver = Atomic(false)
    private let state = Mutex(State())

    /// Creates clients who visit the documents with the `_id`s from 0 to `documents` - 1.
    /// - Parameter pause: the time between two updates of a client.
    init(_ database: TestDatabase, documents: Int, pause: Duration = .zero) {
        (self.database, self.documents, self.pause) = (database, documents, pause)
    }

    /// The number of visits that the server acknowledged.
    var visits: Int { state.withLock { $0.visits } }

    /// The time that the longest update took.
    var longest: Duration { state.withLock { $0.longest } }

    /// Runs `body` while three clients update random documents.
    ///
    /// - Parameter inTransactions: whether each client updates two documents in one transaction.
    func visit(inTransactions: Bool = false, during body: () async throws -> Void) async throws {
        isOver.store(false, ordering: .relaxed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { isOver.store(true, ordering: .relaxed) }
            for _ in 0..<3 {
                group.addTask { [self] in
                    while !isOver.load(ordering: .relaxed) {
                        try await inTransactions ? visitTwo() : visitOne()
                        if pause > .zero { try await Task.sleep(for: pause) }
                    }
                }
            }
            try await body()
            isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    private func visitOne() async throws {
        let start = ContinuousClock.now
        try await database.update(
            "people", ["_id": .integer(.random(in: 0..<documents))], ["$inc": ["visits": 1]])
        note(1, since: start)
    }

    /// Updates two documents in a transaction, which counts only if it is committed.
    private func visitTwo() async throws {
        let start = ContinuousClock.now
        let first = Int.random(in: 0..<documents)
        let ids = [first, (first + 1) % documents].sorted()
        let namespace = database.namespace("people")
        do {
            try await database.pool.withClient { client throws(MongoError) in
                let session = try client.startSession()
                try session.startTransaction(commitLimit: .seconds(60))
                let options = try session.options()
                for id in ids {
                    let one = UpdateStatement(["_id": .integer(id)], ["$inc": ["visits": 1]])
                    try client.collection(namespace).update([one], options: options)
                }
                try session.commitTransaction()
            }
        } catch {
            guard error.labels.contains("TransientTransactionError") else { throw error }
            return
        }
        note(2, since: start)
    }

    private func note(_ visits: Int, since start: ContinuousClock.Instant) {
        let time = ContinuousClock.now - start
        state.withLock { state in
            state.visits += visits
            state.longest = max(state.longest, time)
        }
    }
}
