import BSON
import Concurrency
import Mongo
import Synchronization
import TestSupport
import Testing

@testable import JobState
@testable import Running

/// A transaction writes the fence, the state database and the documents together, or writes nothing.
@Suite struct FencedTransactionTests {
    private struct Broken: Error {}

    /// The parts of a test: the runner's kernel, another client, and the collection `people` with ten documents.
    private final class Subject {
        let kernel: Kernel
        let other: Client
        let people: Namespace
        let state: String

        init(_ kernel: consuming Kernel, _ other: consuming Client, people: Namespace, state: String) {
            self.kernel = kernel
            self.other = other
            (self.people, self.state) = (people, state)
        }

        /// Runs a transaction that writes the fence, a document of the state database and `updates`.
        func write(
            _ updates: [UpdateStatement], chunks: Int = 1,
            between: (borrowing FencedTransaction) throws -> Void = { _ in }
        ) throws -> FencedTransaction.Outcome<Int> {
            try kernel.transaction { transaction in
                try transaction.fence(setting: ["chunks": .integer(chunks)])
                try transaction.record([["_id": .integer(chunks), "chunk": .integer(chunks)]], in: "journal")
                try between(transaction)
                return try transaction.update(updates, of: people, options: [:])
            }
        }

        /// Returns the number of documents with `done`, of records of the journal, and the number in the checkpoint.
        func counts() throws -> [Int] {
            let journal = other.collection(Namespace(database: state, collection: "journal"))
            let ranges = other.collection(Namespace(database: state, collection: "ranges"))
            return [
                try other.collection(people).find(["done": true]).documents().count,
                try journal.find([:]).documents().count,
                try ranges.find([:]).documents().first?["chunks"]?.integer ?? -1,
            ]
        }
    }

    private static func done(_ ids: [Int]) -> [UpdateStatement] {
        ids.map { UpdateStatement(["_id": .integer($0)], ["$set": ["done": true]]) }
    }

    private func withSubject(_ body: @Sendable @escaping (Subject) throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10)
            for name in ["journal", "ranges", "sessions"] { try await test.state.run(["create": .string(name)]) }
            let pool = try ClientPool.open(ConnectionOptions(uri: test.uri))
            let (state, people) = (test.state.name, test.database.namespace("people"))
            try await pool.run { _ in
                let identity = RunnerIdentity.current()
                let store = StateStore(
                    client: StoreClient(database: state, client: try pool.client()), job: "job", identity: identity,
                    terms: LeaseTerms(duration: .seconds(60)))
                try store.createRange()
                guard case .taken(let lease, let record) = try store.ranges.acquire(for: .backfill) else {
                    throw Broken()
                }
                let kernel = Kernel(
                    retry: RetryPolicy(limit: .seconds(20), stop: StopSignal(), events: { _ in }), events: { _ in },
                    pool: pool, client: try pool.client(), store: store, throttler: nil, deadline: nil,
                    heldLease: HeldLease(lease: lease, askedAt: .now))
                try kernel.beginTransactions(after: record)
                let subject = Subject(kernel, try pool.client(), people: people, state: state)
                try body(subject)
                let note = subject.kernel.leave()
                #expect(note == nil)
                let sessions = subject.other.collection(Namespace(database: state, collection: "sessions"))
                #expect(try sessions.find([:]).documents() == [])
            }
        }
    }

    @Test func everythingIsWrittenTogether() async throws {
        try await withSubject { subject in
            guard case .committed(let matched) = try subject.write(Self.done([1, 2])) else { throw Broken() }
            #expect(matched == 2)
            #expect(try subject.counts() == [2, 1, 1])
            guard case .committed = try subject.write(Self.done([3]), chunks: 2) else { throw Broken() }
            #expect(try subject.counts() == [3, 2, 2])
        }
    }

    @Test func withoutTheFenceNothingIsCommitted() async throws {
        try await withSubject { subject in
            let outcome = try subject.kernel.transaction { transaction in
                try transaction.update(Self.done([1]), of: subject.people, options: [:])
            }
            guard case .abandoned(1) = outcome else { throw Broken() }
            #expect(try subject.counts() == [0, 0, 0])
        }
    }

    @Test func anErrorOfTheBodyLeavesNothing() async throws {
        try await withSubject { subject in
            #expect(throws: Broken.self) { _ = try subject.write(Self.done([1])) { _ in throw Broken() } }
            #expect(try subject.counts() == [0, 0, 0])
            guard case .committed = try subject.write(Self.done([1])) else { throw Broken() }
        }
    }

    @Test func aDocumentThatAnotherClientWritesIsAConflict() async throws {
        try await withSubject { subject in
            let outcome = try subject.write(Self.done([1, 2])) { transaction in
                _ = try transaction.collection(subject.people).find(["_id": 1]).documents()
                try subject.other.collection(subject.people).update([
                    UpdateStatement(["_id": 2], ["$set": ["visits": 1]])
                ])
            }
            guard case .conflict = outcome else { throw Broken() }
            #expect(try subject.counts() == [0, 0, 0])
        }
    }

    @Test func theRefusedStatementIsNamed() async throws {
        try await withSubject { subject in
            try subject.other.runCommand(
                [
                    "createIndexes": .string(subject.people.collection),
                    "indexes": [["key": ["done": 1], "name": "done", "unique": true, "sparse": true]],
                ], on: subject.people.database)
            guard case .refused(let statement, let error) = try subject.write(Self.done([1, 2, 3])) else {
                throw Broken()
            }
            #expect(statement == 1)
            #expect(error.code == .duplicateKey)
            #expect(try subject.counts() == [0, 0, 0])
        }
    }

    /// The record has another number than this runner's last transaction left, as after an election.
    @Test func aRecordThatFellBackEndsTheTransaction() async throws {
        try await withSubject { subject in
            guard case .committed = try subject.write(Self.done([1])) else { throw Broken() }
            let ranges = subject.other.collection(Namespace(database: subject.state, collection: "ranges"))
            try ranges.update([UpdateStatement([:], ["$set": ["seq": 0, "chunks": 0]])])
            guard case .fallenBack = try subject.write(Self.done([2]), chunks: 2) else { throw Broken() }
            #expect(try subject.kernel.takeFallenBack()?["chunks"] == 0)
            #expect(try subject.counts() == [1, 1, 0])
            // The runner then continues from the record.
            guard case .committed = try subject.write(Self.done([2]), chunks: 3) else { throw Broken() }
            #expect(try subject.counts() == [2, 2, 3])
        }
    }

    /// After an election, the journal lacks the last chunks, and so does the job's progress.
    @Test func chunksThatANewPrimaryLacksWereNotDeleted() async throws {
        try await withSubject { subject in
            func state(_ name: String) -> MongoCollection {
                subject.other.collection(Namespace(database: subject.state, collection: name))
            }
            try state("jobs").insert([["_id": "job"]])
            try state("ranges").update([UpdateStatement([:], ["$set": ["journaled": 2]])])
            let store = subject.kernel.store.journal
            try store.expectKept((9, 3), subject.kernel.store.ranges)
            #expect(throws: RunError.self) { try store.expectKept((9, 2), subject.kernel.store.ranges) }
        }
    }

    @Test func anotherRunnersLeaseEndsTheRunner() async throws {
        try await withSubject { subject in
            let ranges = subject.other.collection(Namespace(database: subject.state, collection: "ranges"))
            try ranges.update([
                UpdateStatement([:], [["$set": ["lease.token": ["$add": ["$lease.token", 1]]]] as BSONValue])
            ])
            let error = #expect(throws: RunError.self) { _ = try subject.write(Self.done([1])) }
            #expect(error?.kind == .leaseLost)
            #expect(try subject.counts() == [0, 0, 0])
        }
    }

    /// The transactions of a thread have a record of their own, so they do not meet those of the runner.
    @Test func aThreadCommitsBesideTheRunner() async throws {
        try await withSubject { subject in
            let thread = try #require(try subject.kernel.startThreads(1).first)
            let outcome = try subject.write(Self.done([1])) { _ in
                #expect(Self.isCommitted(Self.write([2], by: thread, in: subject.people)))
            }
            guard case .committed = outcome else { throw Broken() }
            #expect(Self.isCommitted(Self.write([3], by: thread, in: subject.people)))
            try subject.kernel.renew()
            let isFallenBack = subject.kernel.hasFallenBack
            #expect(!isFallenBack)
            #expect(try subject.kernel.store.ranges.document()?["chunks"] == 3)
            #expect(try subject.counts()[0] == 3)
        }
    }

    /// A new primary lacks the last transactions of a thread, and has those of the runner.
    @Test func aThreadsRecordThatFellBackIsNoticed() async throws {
        try await withSubject { subject in
            let thread = try #require(try subject.kernel.startThreads(1).first)
            #expect(Self.isCommitted(Self.write([2], by: thread, in: subject.people)))
            let ranges = subject.other.collection(Namespace(database: subject.state, collection: "ranges"))
            let ofThread: BSONDocument = ["_id.range": 1]
            try ranges.update([UpdateStatement(ofThread, ["$set": ["seq": 0, "chunks": 0]])])
            try subject.kernel.renew()
            let isFallenBack = subject.kernel.hasFallenBack
            #expect(isFallenBack)
            #expect(try subject.kernel.takeFallenBack()?["chunks"] == 0)
            #expect(Self.isCommitted(Self.write([2], by: thread, in: subject.people)))
        }
    }

    /// The next runner adds the counts of the threads to the job's record, and a thread of the first one commits
    /// nothing more.
    @Test func theNextRunnerTakesTheThreadsOver() async throws {
        try await withSubject { subject in
            let thread = try #require(try subject.kernel.startThreads(1).first)
            guard case .committed = try subject.write(Self.done([1])) else { throw Broken() }
            #expect(Self.isCommitted(Self.write([2], by: thread, in: subject.people)))
            let ranges = subject.other.collection(Namespace(database: subject.state, collection: "ranges"))
            try ranges.update([
                UpdateStatement(["_id.range": 0], ["$set": ["lease.end": .date(milliseconds: 0)]])
            ])
            let store = RangeStore(
                client: StoreClient(database: subject.state, client: try subject.kernel.pool.client()), job: "job",
                identity: RunnerIdentity.current(), given: LeaseTerms(duration: .seconds(60)))
            guard case .taken(_, let record) = try store.acquire(for: .undo) else { throw Broken() }
            #expect(record["chunks"] == 2)
            #expect(try ranges.find([:]).documents().count == 1)
            guard case .success(.fallenBack) = Self.write([3], by: thread, in: subject.people) else { throw Broken() }
            #expect(try subject.counts()[0] == 2)
        }
    }

    /// Lets a thread write a chunk, and waits for it.
    private static func write(
        _ ids: [Int], by thread: WritingThread, in people: Namespace
    ) -> Result<FencedTransaction.Outcome<Int>, any Error> {
        let result = Mutex<Result<FencedTransaction.Outcome<Int>, any Error>>(.failure(Broken()))
        let isDone = Semaphore()
        thread.begin { transactions in
            let outcome = Result {
                try transactions.run { transaction, _ in
                    try transaction.fence(setting: RangeChange.checkpoint(Progress.Chunk(), after: Progress([:])))
                    return try transaction.update(done(ids), of: people, options: [:])
                }
            }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        thread.finish()
        return result.withLock { $0 }
    }

    private static func isCommitted<R>(_ outcome: Result<FencedTransaction.Outcome<R>, any Error>) -> Bool {
        if case .success(.committed) = outcome { true } else { false }
    }

    /// A killed runner's transaction holds a document; another client ends its session by the record in the state
    /// database.
    @Test func theSessionIsRecordedWhileItIsOpen() async throws {
        try await withSubject { subject in
            let sessions = subject.other.collection(Namespace(database: subject.state, collection: "sessions"))
            let record = try #require(try sessions.find([:]).documents().first)
            let id = try #require(record["lsid"]?.document?["id"])
            var isFirst = true
            let outcome = try subject.kernel.transaction { transaction in
                try transaction.update(Self.done([1]), of: subject.people, options: [:])
                if isFirst { try subject.other.killSessions([["id": id]]) }
                isFirst = false
                try transaction.fence(setting: ["chunks": 1])
            }
            // The transaction that was ended is repeated as a whole.
            guard case .committed = outcome else { throw Broken() }
            #expect(!isFirst)
            #expect(try subject.counts() == [1, 0, 1])
        }
    }
}
