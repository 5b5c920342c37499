package import BSON
import Concurrency
package import Mongo

/// The collection `ranges`: a record for each job, with the job's progress and the runner that holds the job's lease.
///
/// While several threads of a runner write chunks, each thread but the first has a record of its own beside it, with
/// the counts of its chunks and the number of its last transaction. Two transactions that wrote one record would
/// conflict.
package struct RangeStore {
    package let client: StoreClient
    let job: String
    let identity: RunnerIdentity
    /// The duration of leases and the tolerated difference between clocks that the operator set.
    let given: LeaseTerms
    /// The name of the collection: `ranges` for jobs, or ``StateStore/streams`` for watches and mirrors, which follow
    /// changes.
    package var collection = "ranges"
    /// The number of the thread whose record ``id`` names; 0 for the job's record.
    package var thread = 0

    /// The duration of leases and the tolerated difference between clocks that are in effect.
    ///
    /// The values are the operator's, adapted if the deployment is reached through routers.
    package var terms: LeaseTerms { client.client.isBehindRouter ? given.behindRouters : given }

    /// The `_id` of the thread's record in the collection of this store.
    package var id: BSONValue { ["job": .string(job), "range": .integer(thread)] }

    /// Returns the job's record in the collection of this store, with the counts of its threads' records added; `nil`
    /// before the job's first start.
    /// - Parameter fields: the fields to add, as expressions that the server evaluates.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func document(adding fields: BSONDocument? = nil) throws -> BSONDocument? {
        let records = try client.all(collection, recordsOfJob, adding: fields).documents()
        for record in records { try client.check(record, of: collection) }
        return try Self.joined(records)
    }

    /// Returns the number of chunks that all runs of the job have finished, if the job has not yet ended its pass over
    /// the collection.
    ///
    /// Returns `nil` if the job was never started, or if its last pass has ended.
    package func unfinishedChunks() throws -> Int? {
        guard let document = try document() else { return nil }
        let progress = Progress(document)
        return progress.isOpen ? progress.chunks : nil
    }

    /// Returns the state of the job's undo; `nil` if none was begun.
    package func undoing() throws -> Undoing? {
        try document()?["undo"]?.document.map(Undoing.init)
    }

    package enum Use {
        case backfill, undo, cleanup, rebinding, following

        /// Whether a runner may take a lease for this purpose on a job whose undo has begun or ended.
        var isOfUndone: Bool { self == .undo || self == .cleanup || self == .rebinding }
    }

    /// The outcome of an attempt to take the lease.
    package enum Acquisition {
        /// The runner took the lease; the document is the job's record with the new lease.
        case taken(Lease, BSONDocument)
        case held(by: RunnerIdentity?, remaining: Duration)
    }

    /// Takes the job's lease, if no other runner holds it and no undo of the job prevents this.
    ///
    /// After an undo has begun, only an undo, a clean-up or a rebinding can take the lease.
    ///
    /// The lease of another runner counts as held until its end plus the margin for clocks that differ.
    ///
    /// A lease that this runner already holds is taken again: an earlier attempt to take it may have succeeded although
    /// its reply was lost.
    /// - Throws: ``RunError`` for a damaged record, which stays unchanged; ``MongoError``.
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
            "_id": id, "$or": [["$expr": ended], ["lease.owner": .objectID(identity.owner)]],
        ]
        // After an undo has begun, a runner must not take the lease for a backfill, which would write the job's changes
        // again.
        let filter = use.isOfUndone ? isFree : isFree.appending("undo", ["$exists": false])
        let updated = try client.modify(collection, filter, [["$set": .object(RangeChange.taking(lease, for: use))]])
        if let updated {
            let lease = self.lease(in: updated)
            return .taken(lease, try gather(under: lease) ?? updated)
        }
        let holder = try client.first(
            collection, ["_id": id], adding: ["remaining": ["$subtract": ["$lease.end", "$$NOW"]]])
        return .held(
            by: holder?["lease"]?.document.flatMap(RunnerIdentity.init),
            remaining: .milliseconds(holder?["remaining"]?.integer ?? 0))
    }

    /// Returns the other runner that holds the job's lease, and how long that lease still lasts; `nil` if no other
    /// runner holds it.
    ///
    /// `holder` is `nil` if the stored lease does not identify the runner.
    package func otherHolder() throws(MongoError) -> (holder: RunnerIdentity?, remaining: Duration)? {
        let record = try client.first(
            collection, ["_id": id, "lease.owner": ["$ne": .objectID(identity.owner)]],
            adding: ["remaining": ["$subtract": ["$lease.end", "$$NOW"]]])
        guard let record, let remaining = record["remaining"]?.integer, remaining > 0 else { return nil }
        return (record["lease"]?.document.flatMap(RunnerIdentity.init), .milliseconds(remaining))
    }

    /// Returns the update that is the fence and the checkpoint of a transaction.
    ///
    /// It matches the job's record only while this runner holds the lease and the record is as this runner's last
    /// transaction left it. Otherwise, another runner took the lease, or an election undid transactions.
    /// - Parameters:
    ///   - sequence: the number of this runner's last transaction.
    ///   - changes: fields to set, as expressions that the server evaluates.
    package func fence(_ lease: Lease, after sequence: Int64, setting changes: BSONDocument) -> UpdateStatement {
        let set = changes.appending("seq", .long(sequence + 1)).appending("updated", "$$NOW")
        let owned = owned(lease)
        let filter = FaultInjection.isPlanted(.noSequence) ? owned : owned.appending("seq", .long(sequence))
        return UpdateStatement(filter, [["$set": .object(set)]])
    }

    /// The number of the last transaction that a job's record shows.
    package static func sequence(of record: BSONDocument) -> Int64 { Int64(record["seq"]?.integer ?? 0) }

    /// Returns a filter that matches the job's record only while this runner holds the given lease.
    package func owned(_ lease: Lease) -> BSONDocument {
        ["_id": id, "lease.owner": .objectID(identity.owner), "lease.token": .integer(lease.token)]
    }

    /// Extends the lease and records `changes`, if this runner still holds the lease.
    ///
    /// A lease that has ended is also extended if no other runner has taken it: the stored token is then still the
    /// token of this lease.
    /// - Returns: the extended lease, and the job's record with it, which a majority has.
    /// - Throws: ``RunError`` of kind `leaseLost`, or of kind `checkpointUnreadable` if the job's record was deleted;
    ///   ``MongoError``.
    package func renew(_ lease: Lease, setting changes: BSONDocument = [:]) throws -> (Lease, BSONDocument) {
        let end: BSONValue = ["$add": ["$$NOW", .long(terms.duration.milliseconds)]]
        let set = changes.appending("lease.end", end).appending("updated", "$$NOW")
        guard let updated = try client.modify(collection, owned(lease), [["$set": .object(set)]]) else {
            guard try client.first(collection, ["_id": id]) != nil else { throw try gone() }
            throw RunError(
                .leaseLost,
                "another runner took over job \"\(job)\" while this one was stopped; this one changed nothing after "
                    + "that")
        }
        return (self.lease(in: updated), updated)
    }

    /// The error that another client deleted the job's record, or a thread's.
    package func gone() throws -> RunError {
        // Without a record in `jobs`, the job counts as never started. With a record in `jobs`, the job starts over
        // only if the operator requests it.
        let remedy =
            try JobStore(client: client, job: job).record() == nil
            ? "run it again: it is a new job then, which changes only documents that still need it and can undo only "
                + "those"
            : "start over with --restart, or undo it again if you were undoing it: only the remaining work is done"
        return RunError(
            .checkpointUnreadable,
            "the progress of job \"\(job)\" was deleted from database \"\(client.database)\" while it ran; \(remedy)")
    }

    /// Releases the lease, so that the next runner need not wait for its end.
    ///
    /// The caller must wait until the server has acknowledged all writes under the lease.
    package func release(_ lease: Lease) throws(MongoError) {
        // If the server is overloaded, the runner retries for some seconds, because without a release, the next run
        // would have to wait for the lease's end.
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
