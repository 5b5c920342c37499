import BSON
import Concurrency
import Mongo
import ServerSchema

/// Jobs, their ranges, leases and checkpoints in the state database.
///
/// All times are the server's. Every write waits for a majority, so that no failover takes a checkpoint back.
struct StateStore: ~Copyable {
    /// The layout of the state documents: another number is refused.
    static let version = 2

    let client: StoreClient
    let job: String
    let identity: RunnerIdentity
    let terms: LeaseTerms

    var range: BSONValue { ["job": .string(job), "range": 0] }
}

extension StateStore {
    /// What a started job is bound to.
    struct Binding: Hashable {
        var namespace: Namespace
        /// The collection's UUID; `nil` where the server gives none.
        var collectionUUID: BSONValue?
        var text: String
        var schemas: [BSONDocument]
        /// The paths that the job writes; told by ``text``, and kept for undo to compare jobs by.
        var touched: [FieldPath] = []
        /// Whether a step knows by a field of its own what it did.
        var hasMarkers = false

        var document: BSONDocument {
            [
                "version": .integer(StateStore.version), "ns": .string(namespace.description),
                "uuid": collectionUUID ?? .null, "text": .string(text),
                "schemas": .array(of: schemas.map { .object($0) }),
                "touched": .array(of: touched.map { .string($0.description) }), "journal": true,
            ]
        }

        /// What differs from the job's first start, as a clause; `nil` when nothing does.
        func difference(from record: BSONDocument) -> String? {
            if record["ns"]?.text != namespace.description { return "the collection is another one" }
            if record["uuid"] != (collectionUUID ?? .null) { return "the collection was dropped and created anew" }
            if record["text"]?.text != text { return "the job file's text changed" }
            if record["schemas"]?.document?.values != schemas.map({ .object($0) }) {
                return "a schema that the job names changed"
            }
            return nil
        }
    }

    /// The job's record; `nil` before its first start.
    func record() throws(MongoError) -> BSONDocument? { try client.first("jobs", ["_id": .string(job)]) }

    /// Refuses a record of another layout.
    func checkVersion(of record: BSONDocument) throws(BackfillError) {
        guard record["version"]?.integer == Self.version else {
            throw BackfillError(
                .checkpointUnreadable,
                "the state of job \"\(job)\" in database \"\(client.database)\" has version "
                    + "\(record["version"]?.integer ?? 0), and this program reads version \(Self.version)")
        }
    }

    /// Refuses a job whose text, schemas or collection are not those that it was started with, and one whose steps
    /// could not tell any more what they did.
    /// - Parameter restarts: whether the operator wants a job whose range is gone to start over.
    func check(_ binding: Binding, restarts: Bool = false) throws {
        let hasRange = try client.first("ranges", ["_id": range]) != nil
        guard let record = try record() else { return }
        try checkVersion(of: record)
        if binding.hasMarkers, record["cleaned"] != nil {
            throw BackfillError(
                .bindingChanged,
                "job \"\(job)\" cannot run again: it was cleaned up, and with the fields that its `once` names went the "
                    + "knowledge of what it did; give the job a new name if its steps are to be done once more")
        }
        if let undo = try undoing() { throw undo.refusal(of: job) }
        // The range is created before the record: it was there.
        guard hasRange || restarts else {
            throw BackfillError(
                .checkpointUnreadable,
                "job \"\(job)\" was started, and how far it came is gone from database \"\(client.database)\"; start over "
                    + "with --restart: only what still needs the job is changed")
        }
        if let difference = binding.difference(from: record) {
            throw BackfillError(
                .bindingChanged,
                "job \"\(job)\" cannot go on: \(difference) since it was started; give the changed job a new name")
        }
    }

    /// Chunks that earlier runs wrote of a job that is not done; `nil` when it is done, or was never started.
    func unfinishedChunks() throws(MongoError) -> Int? {
        guard let document = try client.first("ranges", ["_id": range]) else { return nil }
        let progress = Progress(document)
        return progress.isOpen ? progress.chunks : nil
    }

    /// Records the job and its range, unless an earlier run did.
    /// - Parameter keepsJournal: whether this run keeps a journal; once one did not, the job cannot be undone.
    func begin(_ binding: Binding, keepsJournal: Bool) throws(MongoError) {
        try client.createIfAbsent(
            "ranges", id: range,
            ["version": .integer(Self.version), "pass": 0, "chunks": 0, "modified": 0, "state": "idle"])
        try client.createIfAbsent("jobs", id: .string(job), binding.document)
        if !keepsJournal { try client.set("jobs", ["_id": .string(job), "journal": true], ["journal": false]) }
    }
}

extension StateStore {
    /// What a lease is taken for.
    enum Use {
        case backfill, undo, cleanup
    }

    /// How an attempt to take the lease ended.
    enum Acquisition {
        /// The lease, and the range's record as it is then.
        case taken(Lease, BSONDocument)
        case held(by: RunnerIdentity?, remaining: Duration)
    }

    /// How far a range is.
    struct Progress {
        /// Counts the rounds over the collection; 0 before the first.
        var pass: Int
        /// Documents that this round has done: about as many, for operators to see.
        var walked: Int
        /// Chunks of all runs.
        var chunks: Int
        /// Documents that those chunks changed; a chunk that was written and not checkpointed is not in it.
        var modified: Int
        /// The `_id` of the last document that was done in this round: for who looks, as nothing goes on from there.
        private(set) var last: BSONValue?
        /// Set while a round is under way.
        private var upper: BSONValue?

        /// Whether a round was begun and not ended.
        var isOpen: Bool { upper != nil }

        /// A round begins.
        mutating func begin() { (pass, walked, last, upper) = (pass + 1, 0, nil, .maxKey) }

        /// A round ends.
        mutating func end() { (walked, last, upper) = (0, nil, nil) }

        /// A chunk was done.
        mutating func add(documents: Int, modified: Int, last: BSONValue?) {
            walked += documents
            chunks += 1
            self.modified += modified
            if isOpen { self.last = last }
        }

        init(_ document: BSONDocument) {
            pass = document["pass"]?.integer ?? 0
            walked = document["walked"]?.integer ?? 0
            chunks = document["chunks"]?.integer ?? 0
            modified = document["modified"]?.integer ?? 0
            last = document["last"]?.document?["v"]
            upper = document["upper"]?.document?["v"]
        }
    }

    /// Takes the range's lease when nobody's is running, the margin for clock skew included.
    ///
    /// One that is this runner's own is taken again: an attempt whose reply was lost may have been done.
    func acquire(for use: Use) throws(MongoError) -> Acquisition {
        let ended: BSONValue = [
            "$lt": [
                ["$ifNull": ["$lease.end", ["$literal": .date(milliseconds: 0)]]],
                ["$subtract": ["$$NOW", .long(terms.skew.milliseconds)]],
            ]
        ]
        let lease: BSONValue = [
            "$mergeObjects": [
                ["$literal": .object(identity.document)],
                [
                    "token": ["$add": [["$ifNull": ["$lease.token", 0]], 1]], "start": "$$NOW",
                    "end": ["$add": ["$$NOW", .long(terms.duration.milliseconds)]],
                ],
            ]
        ]
        let isFree: BSONDocument = [
            "_id": range, "$or": [["$expr": ended], ["lease.owner": .objectID(identity.owner)]],
        ]
        // A runner that comes too late must not write what is being taken back.
        let filter = use != .backfill ? isFree : isFree.appending("undo", ["$exists": false])
        let updated = try client.modify("ranges", filter, [["$set": .object(Self.taking(lease, for: use))]])
        if let updated { return .taken(self.lease(in: updated), updated) }
        let holder = try client.first(
            "ranges", ["_id": range], adding: ["remaining": ["$subtract": ["$lease.end", "$$NOW"]]])
        return .held(
            by: holder?["lease"]?.document.flatMap(RunnerIdentity.init),
            remaining: .milliseconds(holder?["remaining"]?.integer ?? 0))
    }

    /// Records how far the range is, while the lease is still this runner's; the lease's end stays as it is.
    /// - Returns: the server's reply; `nil` when the lease is not this runner's any more.
    func save(_ progress: Progress, under lease: Lease) throws(MongoError) -> BSONDocument? {
        var builder = BSONBuilder()
        for (name, value) in (try? Self.checkpoint(progress).elements()) ?? [] { builder.append(name, value) }
        builder.append("updated", "$$NOW")
        let reply = try client.update("ranges", owned(lease), [["$set": .object(builder.finish())]])
        return reply["n"]?.integer == 0 ? nil : reply
    }

    private func owned(_ lease: Lease) -> BSONDocument {
        ["_id": range, "lease.owner": .objectID(identity.owner), "lease.token": .integer(lease.token)]
    }

    /// Extends the lease and records what `changes` says, while the lease is still this runner's.
    ///
    /// An ended lease that nobody took is extended too: its token tells.
    /// - Returns: the extended lease.
    /// - Throws: ``BackfillError`` of kind `leaseLost`, or ``MongoError``.
    func renew(_ lease: Lease, setting changes: BSONDocument = [:]) throws -> Lease {
        var builder = BSONBuilder()
        for (name, value) in try changes.elements() { builder.append(name, value) }
        builder.append("lease.end", ["$add": ["$$NOW", .long(terms.duration.milliseconds)]])
        builder.append("updated", "$$NOW")
        guard let updated = try client.modify("ranges", owned(lease), [["$set": .object(builder.finish())]]) else {
            guard try client.first("ranges", ["_id": range]) != nil else { throw try gone() }
            throw BackfillError(
                .leaseLost,
                "another runner took over job \"\(job)\" while this one was stopped; this one changed nothing since")
        }
        return self.lease(in: updated)
    }

    /// The range went while the job ran.
    private func gone() throws(MongoError) -> BackfillError {
        // Without its record the job counts as never started; with it, only the operator has it start over.
        let remedy =
            try record() == nil
            ? "run it again: it is a new job then, which changes only what still needs it and can undo only that"
            : "start over with --restart: only what still needs the job is changed"
        return BackfillError(
            .checkpointUnreadable,
            "how far job \"\(job)\" came was deleted from database \"\(client.database)\" while it ran; \(remedy)")
    }

    /// Gives the lease back: every write under it was acknowledged, so a successor need not wait.
    func release(_ lease: Lease) throws(MongoError) {
        _ = try client.modify("ranges", owned(lease), [["$set": .object(Self.releasing)]])
    }

    private func lease(in document: BSONDocument) -> Lease {
        let stored = document["lease"]?.document
        var end: Int64 = 0
        if case .date(let milliseconds)? = stored?["end"] { end = milliseconds }
        return Lease(token: stored?["token"]?.integer ?? 0, end: end, terms: terms)
    }
}
