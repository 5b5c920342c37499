package import BSON
import Concurrency
import Jobs
package import Mongo

/// The documents that jobs are about to make unsyncable, recorded before the write.
///
/// The ledger lags behind the writes. Until it shows a document, the document counts as pending. All jobs of the state
/// database share these records, as they share the limit.
package struct ReservationStore {
    let client: StoreClient
    let job: String

    /// Returns which of the given documents the ledger shows.
    package typealias Holding = (_ ids: [BSONValue], _ namespace: Namespace) throws -> Set<BSONValue>

    private static let batch = 1_000

    /// Reserves room for the documents that the next chunk may make unsyncable, with majority.
    ///
    /// A document that the ledger showed before, and that was repaired since, is pending again.
    /// - Parameter stale: the documents that the ledger still shows, or shows for another reason than this chunk.
    package func add(_ ids: [BSONValue], stale: [BSONValue], of namespace: Namespace) throws(MongoError) {
        let isStale = Set(stale)
        let fresh = ids.filter { !isStale.contains($0) }
        for (ids, isStale) in [(fresh, false), (stale, true)] where !ids.isEmpty {
            try client.upsert(
                "harm", ids: ids.map { .object(key($0, namespace)) },
                ["seen": false, "stale": .bool(isStale), "at": "$$NOW", "repaired": "$$REMOVE"])
        }
    }

    /// Creates the index for the counts; without the privilege for it, they only take longer.
    package func index() throws(MongoError) {
        do throws(MongoError) {
            try client.createIndex("harm", ["seen": 1, "_id.job": 1, "_id.ns": 1], name: "pending")
        } catch {
            guard error.isAuthorization else { throw error }
        }
    }

    /// Deletes the reservations of a chunk that is not written after all, or of documents that it did not make
    /// unsyncable.
    package func remove(_ ids: [BSONValue], of namespace: Namespace) throws(MongoError) {
        try client.delete("harm", ids: ids.map { .object(key($0, namespace)) })
    }

    /// Returns which of these documents are pending for this job.
    package func pending(among ids: [BSONValue], of namespace: Namespace) throws(MongoError) -> Set<BSONValue> {
        var pending: Set<BSONValue> = []
        for keys in ids.map({ .object(key($0, namespace)) }).commandSlices() {
            let cursor = client.all("harm", ["_id": ["$in": .array(of: keys)], "seen": false])
            pending.formUnion(try cursor.documents().compactMap { $0["_id"]?.document?["id"] })
        }
        return pending
    }

    /// Returns which of these documents are pending for any job; one that several jobs reserved is one document.
    package func pendingOfAny(among ids: [BSONValue], of namespace: Namespace) throws(MongoError) -> Set<BSONValue> {
        guard !ids.isEmpty else { return [] }
        var pending: Set<BSONValue> = []
        for job in try jobsWithPending(of: namespace) {
            let store = ReservationStore(client: client, job: job)
            pending.formUnion(try store.pending(among: ids, of: namespace))
        }
        return pending
    }

    private func jobsWithPending(of namespace: Namespace) throws(MongoError) -> [String] {
        try client.values("harm", ["seen": false, "_id.ns": .string(namespace.description)], of: "_id.job")
            .compactMap(\.text).sorted()
    }

    /// Returns, as lines for the operator, the reservations of other jobs that no run has seen in the ledger yet; they
    /// take room until the ledger shows the documents.
    package func pendingOfOthers() throws(MongoError) -> [String] {
        try client.counts("harm", ["seen": false, "_id.job": ["$ne": .string(job)]], by: "_id.job").compactMap {
            guard let name = $0["_id"]?.text, let count = $0["count"]?.integer else { return nil }
            return
                "job \"\(name)\" reserves room for \(count.separated) \(count == 1 ? "document" : "documents") that it "
                + "makes unsyncable and that might not be in the ledger yet; the room is free when they fit the "
                + "active schema: after a deploy that accepts them run shipshape deployed \(name), or undo the "
                + "job: shipshape undo \(name)"
        }
    }

    private func key(_ id: BSONValue, _ namespace: Namespace) -> BSONDocument {
        ["job": .string(job), "ns": .string(namespace.description), "id": id]
    }

    /// Returns how many documents of a collection this job reserved, including those that the ledger shows by now.
    package func recordedCount(of namespace: Namespace) throws(MongoError) -> Int {
        try client.count("harm", records(of: namespace, by: [job], [:]))
    }

    /// Returns how many reservations no run has seen in the ledger: at least the number of such documents.
    package func pendingCount() throws(MongoError) -> Int {
        try client.counts("harm", ["seen": false], by: "seen").first?["count"]?.integer ?? 0
    }

    /// Returns how many reserved documents the ledger does not show yet; a document counts once, however many jobs
    /// reserved it.
    /// - Parameters:
    ///   - lag: for how long an entry of the ledger is ignored if its document was recorded as stale. A document that
    ///     is known for that long to sync again takes no room.
    ///   - marks: whether to mark the documents that the ledger shows, so that they are not looked up again; a plan
    ///     writes nothing.
    package func pendingCount(
        seenBy holding: Holding, lag: Duration, marks: Bool
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
        // A record whose `seen` is neither true nor false would take no room.
        if let damaged = try client.first("harm", ["seen": ["$nin": [true, false]]]) {
            try client.check(damaged, of: "harm")
        }
        var cursor = client.all("harm", ["seen": false], adding: ["doubtful": isDoubtful, "over": isOver])
        var pending: Set<PendingHarm.Place> = []
        var batch: [PendingHarm] = []
        while let document = try cursor.nextDocument() {
            try client.check(document, of: "harm")
            guard let harm = PendingHarm(document), document["over"]?.isTrue != true else { continue }
            guard document["doubtful"]?.isTrue != true else {
                pending.insert(harm.place)
                continue
            }
            batch.append(harm)
            if batch.count == Self.batch {
                pending.formUnion(try unseen(batch, by: holding, marks: marks))
                batch = []
            }
        }
        return pending.union(try unseen(batch, by: holding, marks: marks)).count
    }

    /// Returns the documents of these records that the ledger does not show.
    private func unseen(_ batch: [PendingHarm], by holding: Holding, marks: Bool) throws -> [PendingHarm.Place] {
        var places: [PendingHarm.Place] = []
        for (namespace, records) in Dictionary(grouping: batch, by: \.place.namespace) {
            let shown = try holding(Array(Set(records.map(\.place.id))), namespace)
            let seen = records.filter { shown.contains($0.place.id) }
            places += records.filter { !shown.contains($0.place.id) }.map(\.place)
            guard marks else { continue }
            // A record that was written again since it was read is not the one that the ledger shows.
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

/// A record as it was read.
private struct PendingHarm {
    /// The document that the record reserves.
    struct Place: Hashable {
        let namespace: Namespace
        let id: BSONValue
    }

    let key: BSONValue
    let place: Place
    /// The time of the reservation.
    let at: BSONValue

    init?(_ document: BSONDocument) {
        guard let key = document["_id"], let id = key.document?["id"], let at = document["at"],
            let namespace = key.document?["ns"]?.text.flatMap({ Namespace($0) })
        else { return nil }
        (self.key, self.place, self.at) = (key, Place(namespace: namespace, id: id), at)
    }
}

/// The later state of the documents that jobs made unsyncable.
extension ReservationStore {
    /// Returns the jobs whose reservations in a collection no runner is about to use: those that no runner holds, and
    /// those of `runners`, which are between two chunks.
    package func settledJobs(of namespace: Namespace, besides runners: [String]) throws(MongoError) -> [String] {
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

    /// Returns the documents of a collection that are pending for these jobs, each once.
    package func pending(of namespace: Namespace, by jobs: [String]) throws(MongoError) -> [BSONValue] {
        var seen: Set<BSONValue> = []
        return try client.all("harm", records(of: namespace, by: jobs, ["seen": false])).documents().compactMap {
            $0["_id"]?.document?["id"]
        }.filter { seen.insert($0).inserted }
    }

    /// Records since when documents sync again or are gone, and deletes that time for documents that do not sync after
    /// all.
    package func note(
        repaired: [BSONValue], harmed: [BSONValue], of namespace: Namespace, by jobs: [String]? = nil
    ) throws(MongoError) {
        let jobs = jobs ?? [job]
        for (ids, isNoted, change) in [
            (repaired, false, ["repaired": "$$NOW"]), (harmed, true, ["repaired": "$$REMOVE"]),
        ] as [([BSONValue], Bool, BSONDocument)] {
            for slice in keys(ids, of: namespace, by: jobs).commandSlices() {
                let changed: BSONDocument = [
                    "_id": ["$in": .array(of: slice)], "repaired": ["$exists": .bool(isNoted)],
                ]
                try client.set("harm", changed, change)
            }
        }
    }

    /// Deletes the reservations of documents that have been known to sync again for at least `grace`.
    package func removeRepaired(
        since grace: Duration, of namespace: Namespace, by jobs: [String]? = nil
    ) throws(MongoError) {
        // MongoDB 4.4 knows no $$NOW in a delete.
        let isOld: BSONValue = ["$lte": .date(milliseconds: try client.now() - grace.milliseconds), "$type": "date"]
        try client.delete(
            "harm", where: records(of: namespace, by: jobs ?? [job], ["seen": false, "repaired": isOld]))
    }

    /// Deletes the reservations of documents that sync again and that the ledger does not show, although it had time
    /// to.
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

    /// Returns how many documents of a collection are known to sync again but still keep this job's reservation.
    package func repairedCount(of namespace: Namespace) throws(MongoError) -> Int {
        try client.count(
            "harm", records(of: namespace, by: [job], ["seen": false, "repaired": ["$type": "date"]]))
    }

    /// Returns the `_id`s of the reservations of these documents, so that they are found without a full scan.
    private func keys(_ ids: [BSONValue], of namespace: Namespace, by jobs: [String]) -> [BSONValue] {
        jobs.flatMap { job in
            let store = ReservationStore(client: client, job: job)
            return ids.map { BSONValue.object(store.key($0, namespace)) }
        }
    }

    private func records(of namespace: Namespace, by jobs: [String], _ filter: BSONDocument) -> BSONDocument {
        let names = BSONValue.array(of: jobs.map { .string($0) })
        return ["$and": [["_id.job": ["$in": names], "_id.ns": .string(namespace.description)], .object(filter)]]
    }
}
