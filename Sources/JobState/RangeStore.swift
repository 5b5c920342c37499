package import BSON
import Concurrency
package import Mongo

/// The collection `ranges`: how far a job is, and who runs it.
package struct RangeStore {
    let client: StoreClient
    let job: String
    let identity: RunnerIdentity
    /// As the operator set them.
    let given: LeaseTerms
    /// The collection: of jobs, or of what follows changes and never ends.
    package var collection = "ranges"

    /// How long a lease lasts here, and how far clocks may be apart.
    package var terms: LeaseTerms { client.client.isBehindRouter ? given.behindRouters : given }

    /// The key of the job's one range.
    package var id: BSONValue { ["job": .string(job), "range": 0] }

    private var range: BSONValue { id }

    /// The range's record; `nil` before the job's first start.
    /// - Throws: ``RunError`` for a damaged one; ``MongoError``.
    package func document() throws -> BSONDocument? { try client.firstChecked(collection, ["_id": id]) }

    /// Chunks that earlier runs wrote of a job that is not done; `nil` when it is done, or was never started.
    package func unfinishedChunks() throws -> Int? {
        guard let document = try document() else { return nil }
        let progress = Progress(document)
        return progress.isOpen ? progress.chunks : nil
    }

    /// The job's undo; `nil` when none was begun.
    package func undoing() throws -> Undoing? {
        try document()?["undo"]?.document.map(Undoing.init)
    }

    /// What a lease is taken for.
    package enum Use {
        case backfill, undo, cleanup, rebinding, following

        /// Whether a job that is being undone, or was, may be held for it.
        var isOfUndone: Bool { self == .undo || self == .cleanup || self == .rebinding }
    }

    /// How an attempt to take the lease ended.
    package enum Acquisition {
        /// The lease, and the range's record as it is then.
        case taken(Lease, BSONDocument)
        case held(by: RunnerIdentity?, remaining: Duration)
    }

    /// Takes the range's lease when nobody's is running, the margin for clock skew included.
    ///
    /// One that is this runner's own is taken again: an attempt whose reply was lost may have been done.
    /// - Throws: ``RunError`` for a damaged record, which stays as it is; ``MongoError``.
    package func acquire(for use: Use) throws -> Acquisition {
        _ = try document()
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
        let filter = use.isOfUndone ? isFree : isFree.appending("undo", ["$exists": false])
        let updated = try client.modify(collection, filter, [["$set": .object(RangeChange.taking(lease, for: use))]])
        if let updated { return .taken(self.lease(in: updated), updated) }
        let holder = try client.first(
            collection, ["_id": range], adding: ["remaining": ["$subtract": ["$lease.end", "$$NOW"]]])
        return .held(
            by: holder?["lease"]?.document.flatMap(RunnerIdentity.init),
            remaining: .milliseconds(holder?["remaining"]?.integer ?? 0))
    }

    /// Who else holds the range now, and for how long yet; `nil` when nobody does.
    /// - Throws: ``MongoError``.
    package func otherHolder() throws(MongoError) -> (holder: RunnerIdentity?, remaining: Duration)? {
        let record = try client.first(
            collection, ["_id": range, "lease.owner": ["$ne": .objectID(identity.owner)]],
            adding: ["remaining": ["$subtract": ["$lease.end", "$$NOW"]]])
        guard let record, let remaining = record["remaining"]?.integer, remaining > 0 else { return nil }
        return (record["lease"]?.document.flatMap(RunnerIdentity.init), .milliseconds(remaining))
    }

    /// Records how far the range is, while the lease is still this runner's; the lease's end stays as it is.
    /// - Returns: the server's reply; `nil` when the lease is not this runner's any more.
    package func save(_ progress: Progress, under lease: Lease) throws(MongoError) -> BSONDocument? {
        var builder = BSONBuilder()
        for (name, value) in (try? RangeChange.checkpoint(progress).elements()) ?? [] { builder.append(name, value) }
        builder.append("updated", "$$NOW")
        let reply = try client.update(collection, owned(lease), [["$set": .object(builder.finish())]])
        return reply["n"]?.integer == 0 ? nil : reply
    }

    /// What the range's record matches while a lease is this runner's.
    package func owned(_ lease: Lease) -> BSONDocument {
        ["_id": range, "lease.owner": .objectID(identity.owner), "lease.token": .integer(lease.token)]
    }

    /// Extends the lease and records what `changes` says, while the lease is still this runner's.
    ///
    /// An ended lease that nobody took is extended too: its token tells.
    /// - Returns: the extended lease.
    /// - Throws: ``RunError`` of kind `leaseLost`, or ``MongoError``.
    package func renew(_ lease: Lease, setting changes: BSONDocument = [:]) throws -> Lease {
        var builder = BSONBuilder()
        for (name, value) in try changes.elements() { builder.append(name, value) }
        builder.append("lease.end", ["$add": ["$$NOW", .long(terms.duration.milliseconds)]])
        builder.append("updated", "$$NOW")
        guard let updated = try client.modify(collection, owned(lease), [["$set": .object(builder.finish())]]) else {
            guard try client.first(collection, ["_id": range]) != nil else { throw try gone() }
            throw RunError(
                .leaseLost,
                "another runner took over job \"\(job)\" while this one was stopped; this one changed nothing since")
        }
        return self.lease(in: updated)
    }

    /// The range went while the job ran.
    private func gone() throws -> RunError {
        // Without its record the job counts as never started; with it, only the operator has it start over.
        let remedy =
            try JobStore(client: client, job: job).record() == nil
            ? "run it again: it is a new job then, which changes only what still needs it and can undo only that"
            : "start over with --restart, where it was to be undone undo it again: only what is left to be done is done"
        return RunError(
            .checkpointUnreadable,
            "how far job \"\(job)\" came was deleted from database \"\(client.database)\" while it ran; \(remedy)")
    }

    /// Gives the lease back: every write under it was acknowledged, so a successor need not wait.
    package func release(_ lease: Lease) throws(MongoError) {
        // Else the next run would have to wait for the lease's end.
        let outcome = Overload.within(.last) {
            Result { () throws(MongoError) in
                try client.modify(collection, owned(lease), [["$set": .object(RangeChange.releasing)]])
            }
        }
        _ = try outcome.get()
    }

    private func lease(in document: BSONDocument) -> Lease {
        let stored = document["lease"]?.document
        var end: Int64 = 0
        if case .date(let milliseconds)? = stored?["end"] { end = milliseconds }
        return Lease(token: stored?["token"]?.integer ?? 0, end: end, terms: terms)
    }
}
