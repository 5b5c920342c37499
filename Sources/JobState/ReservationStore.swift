package import BSON
import Concurrency
import Jobs
package import Mongo

/// The reservations: one record for each document that a job may make unsyncable, stored before the write.
///
/// The ledger, the sync engine's list of unsynced documents, shows a write only some time later. Until the ledger shows
/// a reserved document, the document is pending. All jobs of the state database share the reservations, because they
/// share the limit of unsynced documents.
package struct ReservationStore {
    let client: StoreClient
    let job: String

    /// A function that returns which of the given documents are in the sync engine's ledger of unsynced documents.
    package typealias LedgerLookup = (_ ids: [BSONValue], _ namespace: Namespace) throws -> Set<BSONValue>

    private static let batch = 1_000

    /// Reserves the documents that the job's next chunk may make unsyncable, and waits until a majority of the members
    /// has the reservations.
    ///
    /// A document that is reserved again is pending again, even if the ledger showed it before.
    /// - Parameter stale: the documents of `ids` that were in the ledger before this chunk. Their entries in the ledger
    ///   do not prove that the ledger has seen the chunk's write.
    package func add(_ ids: [BSONValue], stale: [BSONValue], of namespace: Namespace) throws(MongoError) {
        let isStale = Set(stale)
        let fresh = ids.filter { !isStale.contains($0) }
        for (ids, isStale) in [(fresh, false), (stale, true)] where !ids.isEmpty {
            try client.upsert(
                "harm", ids: keys(ids, of: namespace, by: [job]),
                ["seen": false, "stale": .bool(isStale), "at": "$$NOW", "repaired": "$$REMOVE"])
        }
    }

    /// Creates the index that the counts of pending documents use.
    ///
    /// If the user is not allowed to create an index, the counts only take longer.
    package func index() throws(MongoError) {
        do throws(MongoError) {
            try client.createIndex("harm", ["seen": 1, "_id.job": 1, "_id.ns": 1], name: "pending")
        } catch {
            guard error.isAuthorization else { throw error }
        }
    }

    /// Deletes the job's reservations of the given documents.
    ///
    /// The caller passes documents that were not written, or that a write did not make unsyncable.
    package func remove(_ ids: [BSONValue], of namespace: Namespace) throws(MongoError) {
        try client.delete("harm", ids: keys(ids, of: namespace, by: [job]))
    }

    /// Returns the given documents that this job has reserved, and that no run has found in the sync engine's ledger
    /// yet.
    package func pending(among ids: [BSONValue], of namespace: Namespace) throws(MongoError) -> Set<BSONValue> {
        try pending(keys(ids, of: namespace, by: [job]))
    }

    private func pending(_ keys: [BSONValue]) throws(MongoError) -> Set<BSONValue> {
        var pending: Set<BSONValue> = []
        for slice in keys.commandSlices() {
            let cursor = client.all("harm", ["_id": ["$in": .array(of: slice)], "seen": false])
            pending.formUnion(try cursor.documents().compactMap { $0["_id"]?.document?["id"] })
        }
        return pending
    }

    /// Returns the given documents that any job has reserved, and that no run has found in the sync engine's ledger
    /// yet.
    package func pendingOfAny(among ids: [BSONValue], of namespace: Namespace) throws(MongoError) -> Set<BSONValue> {
        try ids.isEmpty ? [] : pending(keys(ids, of: namespace, by: jobsWithPending(of: namespace)))
    }

    private func jobsWithPending(of namespace: Namespace) throws(MongoError) -> [String] {
        try client.values("harm", ["seen": false, "_id.ns": .string(namespace.description)], of: "_id.job")
            .compactMap(\.text).sorted()
    }

    /// Returns a line for the operator about each other job with reserved documents that no run has found in the sync
    /// engine's ledger yet.
    ///
    /// These reservations count towards the limit on unsynced documents.
    package func pendingOfOthers() throws(MongoError) -> [String] {
        try client.counts("harm", ["seen": false, "_id.job": ["$ne": .string(job)]], by: "_id.job").compactMap {
            guard let name = $0["_id"]?.text, let count = $0["count"]?.integer else { return nil }
            return
                "job \"\(name)\" reserves room for \(count.grouped) \(count == 1 ? "document" : "documents") that it "
                + "makes unsyncable and that might not be in the ledger yet; the room is free when they fit the "
                + "active schema: after a deploy that accepts them run shipshape job deployed \(name), or undo the "
                + "job: shipshape undo \(name)"
        }
    }

    /// Returns how many documents of a collection this job has reserved, including documents that the ledger already
    /// shows.
    package func recordedCount(of namespace: Namespace) throws(MongoError) -> Int {
        try client.count("harm", records(of: namespace, by: [job], [:]))
    }

    /// Returns how many reservations of all jobs are pending, because no run has found their documents in the sync
    /// engine's ledger yet.
    ///
    /// The count is at least the number of pending documents, because a document that several jobs reserved counts for
    /// each job.
    package func pendingCount() throws(MongoError) -> Int {
        try client.counts("harm", ["seen": false], by: "seen").first?["count"]?.integer ?? 0
    }

    /// Returns how many reserved documents the sync engine's ledger of unsynced documents does not show yet.
    ///
    /// A document counts once, even if several jobs reserved it. If a reservation is marked as `stale` by
    /// ``add(_:stale:of:)`` and is younger than `lag`, its document counts even if the ledger shows it, because the
    /// ledger's entry may be older than the write. A document does not count if it was recorded at least `lag` ago that
    /// the document syncs again.
    /// - Parameters:
    ///   - lag: the longest time that the ledger takes to show a write.
    ///   - marks: whether to mark the documents that the ledger shows, so that later calls skip them; `false` for a
    ///     plan, which writes nothing.
    package func pendingCount(
        seenBy ledger: LedgerLookup, lag: Duration, marks: Bool
    ) throws -> Int {
        let isDoubtful: BSONValue = [
            "$and": [
                ["$eq": ["$stale", true]], ["$gt": ["$at", ["$subtract": ["$$NOW", .long(lag.milliseconds)]]]],
            ]
        ]
        let isOver: BSONValue = [
            "$and": [
                ["$eq": [["$type": "$repaired"], "date"]],
                ["$lte": ["$repaired", ["$subtract": ["$$NOW", .long(lag.milliseconds)]]]],
            ]
        ]
        // The query for pending reservations matches only `seen: false`, so it overlooks a reservation whose `seen` is
        // neither true nor false. Such a reservation is refused as damaged.
        if let damaged = try client.first("harm", ["seen": ["$nin": [true, false]]]) {
            try client.check(damaged, of: "harm")
        }
        var cursor = client.all("harm", ["seen": false], adding: ["doubtful": isDoubtful, "over": isOver])
        var pending: Set<PendingReservation.Place> = []
        var batch: [PendingReservation] = []
        while let document = try cursor.nextDocument() {
            try client.check(document, of: "harm")
            guard let reservation = PendingReservation(document), document["over"]?.isTrue != true else { continue }
            guard document["doubtful"]?.isTrue != true else {
                pending.insert(reservation.place)
                continue
            }
            batch.append(reservation)
            if batch.count == Self.batch {
                pending.formUnion(try unseen(batch, by: ledger, marks: marks))
                batch = []
            }
        }
        return pending.union(try unseen(batch, by: ledger, marks: marks)).count
    }

    /// Returns the places of the reserved documents in `batch` that the ledger does not show.
    /// - Parameter marks: whether to mark as seen the reservations of documents that the ledger shows.
    private func unseen(_ batch: [PendingReservation], by ledger: LedgerLookup, marks: Bool) throws
        -> [PendingReservation.Place]
    {
        var places: [PendingReservation.Place] = []
        for (namespace, records) in Dictionary(grouping: batch, by: \.place.namespace) {
            let shown = try ledger(Array(Set(records.map(\.place.id))), namespace)
            let seen = records.filter { shown.contains($0.place.id) }
            places += records.filter { !shown.contains($0.place.id) }.map(\.place)
            guard marks else { continue }
            // If a job renewed a reservation after this method read it, the ledger might not show the job's later write
            // yet. The renewal changed `at`, so the filter does not match the reservation, and it is not marked as
            // seen.
            for (at, records) in Dictionary(grouping: seen, by: \.at) {
                for slice in records.map(\.key).commandSlices() {
                    try client.set(
                        "harm", ["_id": ["$in": .array(of: slice)], "seen": false, "at": at], ["seen": true])
                }
            }
        }
        return places
    }
}

private struct PendingReservation {
    struct Place: Hashable {
        let namespace: Namespace
        let id: BSONValue
    }

    let key: BSONValue
    let place: Place
    let at: BSONValue

    init?(_ document: BSONDocument) {
        guard let key = document["_id"], let id = key.document?["id"], let at = document["at"],
            let namespace = key.document?["ns"]?.text.flatMap({ Namespace($0) })
        else { return nil }
        (self.key, self.place, self.at) = (key, Place(namespace: namespace, id: id), at)
    }
}

/// Records which reserved documents sync again, and deletes their reservations.
extension ReservationStore {
    /// Returns the jobs that have pending reservations in a collection, without the jobs that may be writing a chunk.
    ///
    /// A job is in the result if no runner holds its lease, or if `runners` contains it.
    /// - Parameter runners: the jobs whose runners are between two chunks.
    package func idleJobs(of namespace: Namespace, including runners: [String]) throws(MongoError) -> [String] {
        let jobs = try jobsWithPending(of: namespace)
        guard !jobs.isEmpty else { return [] }
        let isHeld: BSONDocument = [
            "_id.job": ["$in": .array(of: jobs.map { .string($0) })], "$expr": ["$gt": ["$lease.end", "$$NOW"]],
        ]
        var held: [String] = []
        for collection in ["ranges", StateStore.streams] {
            held += try client.all(collection, isHeld).documents().compactMap { $0["_id"]?.document?["job"]?.text }
        }
        return jobs.filter { runners.contains($0) || !held.contains($0) }
    }

    /// Returns the documents of a collection for which one of these jobs has a pending reservation, each once.
    package func pending(of namespace: Namespace, by jobs: [String]) throws(MongoError) -> [BSONValue] {
        var seen: Set<BSONValue> = []
        return try client.all("harm", records(of: namespace, by: jobs, ["seen": false])).documents().compactMap {
            $0["_id"]?.document?["id"]
        }.filter { seen.insert($0).inserted }
    }

    /// Records in the reservations which documents sync again or no longer exist, and since when.
    ///
    /// The method adds the current time to the reservations of the documents in `repaired`; a time that an earlier call
    /// recorded stays unchanged. It removes the time from the reservations of the documents in `unsyncable`, which do
    /// not sync, even if an earlier call recorded that they do.
    package func note(
        repaired: [BSONValue], unsyncable: [BSONValue], of namespace: Namespace, by jobs: [String]? = nil
    ) throws(MongoError) {
        let jobs = jobs ?? [job]
        for (ids, isNoted, change) in [
            (repaired, false, ["repaired": "$$NOW"]), (unsyncable, true, ["repaired": "$$REMOVE"]),
        ] as [([BSONValue], Bool, BSONDocument)] {
            for slice in keys(ids, of: namespace, by: jobs).commandSlices() {
                let changed: BSONDocument = [
                    "_id": ["$in": .array(of: slice)], "repaired": ["$exists": .bool(isNoted)],
                ]
                try client.set("harm", changed, change)
            }
        }
    }

    /// Deletes the reservations of documents that have been known for at least `grace` to sync again or to be gone.
    package func removeRepaired(
        since grace: Duration, of namespace: Namespace, by jobs: [String]? = nil
    ) throws(MongoError) {
        // A delete in MongoDB 4.4 cannot use `$$NOW`, so the server's time is read before the delete.
        let isOld: BSONValue = ["$lte": .date(milliseconds: try client.now() - grace.milliseconds), "$type": "date"]
        try client.delete(
            "harm", where: records(of: namespace, by: jobs ?? [job], ["seen": false, "repaired": isOld]))
    }

    /// Deletes the reservations of documents that sync again, if the reservations are at least `age` old.
    ///
    /// The caller passes documents that the ledger does not show. If a reservation is older than `age`, the sync engine
    /// has processed the write that made the document unsyncable. Since the ledger does not show the document, the
    /// engine has processed the repair, too.
    package func removeUnseen(
        _ ids: [BSONValue], olderThan age: Duration, of namespace: Namespace, by jobs: [String]
    ) throws(MongoError) {
        let isOld: BSONValue = ["$lte": .date(milliseconds: try client.now() - age.milliseconds), "$type": "date"]
        for slice in keys(ids, of: namespace, by: jobs).commandSlices() {
            try client.delete(
                "harm",
                where: [
                    "_id": ["$in": .array(of: slice)], "seen": false, "repaired": ["$type": "date"], "at": isOld,
                ])
        }
    }

    /// Returns how many documents of a collection this job still has reserved, although they are known to sync again.
    package func repairedCount(of namespace: Namespace) throws(MongoError) -> Int {
        try client.count(
            "harm", records(of: namespace, by: [job], ["seen": false, "repaired": ["$type": "date"]]))
    }

    /// Returns the `_id`s of the reservations of the given documents, so that a query finds them by the index on `_id`.
    private func keys(_ ids: [BSONValue], of namespace: Namespace, by jobs: [String]) -> [BSONValue] {
        jobs.flatMap { job -> [BSONValue] in
            ids.map { ["job": .string(job), "ns": .string(namespace.description), "id": $0] }
        }
    }

    private func records(of namespace: Namespace, by jobs: [String], _ filter: BSONDocument) -> BSONDocument {
        let names = BSONValue.array(of: jobs.map { .string($0) })
        return ["$and": [["_id.job": ["$in": names], "_id.ns": .string(namespace.description)], .object(filter)]]
    }
}
