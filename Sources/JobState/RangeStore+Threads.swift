package import BSON
package import Mongo

/// The records of a runner's threads, beside the job's record.
extension RangeStore {
    /// Returns the record of a thread that has written nothing; it is inserted in a transaction of the first thread.
    package func record(ofThread thread: Int, under lease: Lease) -> BSONDocument {
        var store = self
        store.thread = thread
        return [
            "_id": store.id, "version": .integer(JobStore.version), "seq": 0,
            "lease": ["owner": .objectID(identity.owner), "token": .integer(lease.token)],
        ]
    }

    /// Returns the numbers of the last transactions that the records of the job's threads show, by thread.
    package func sequences() throws(MongoError) -> [Int: Int64] {
        var sequences: [Int: Int64] = [:]
        for record in try client.all(collection, recordsOfJob).documents() {
            if let thread = Self.thread(of: record) { sequences[thread] = Self.sequence(of: record) }
        }
        return sequences
    }

    /// Adds the counts of the threads' records to the job's record, and deletes the threads' records.
    ///
    /// A transaction of such a thread that is still open can no longer be committed, because its record is gone.
    /// - Parameter lease: the lease of this runner, which must have no other transaction open.
    /// - Returns: the job's record afterwards; `nil` if there were no records of threads.
    @discardableResult
    package func gather(under lease: Lease) throws -> BSONDocument? {
        guard try client.count(collection, recordsOfJob) > 1 else { return nil }
        let session = try client.client.startSession()
        try session.startTransaction(commitLimit: terms.writeLimit, isLocal: !client.client.isBehindRouter)
        let records: [BSONDocument]
        do {
            let collection = try client.collection(collection).inTransaction(of: session)
            records = try collection.find(recordsOfJob).documents()
            let sums = Self.sums(of: records).map { ($0, ["$literal": $1] as BSONValue) }
            try collection.update([UpdateStatement(owned(lease), [["$set": .object(BSONDocument(sums))]])])
            let others = records.filter { Self.thread(of: $0) != 0 }.compactMap { $0["_id"] }
            try collection.delete([DeleteStatement(["_id": ["$in": .array(of: others)]], isMulti: true)])
            try session.commitTransaction()
        } catch {
            session.abortTransaction()
            throw error
        }
        return try Self.joined(records)
    }

    /// A filter for the records of all threads of the job.
    var recordsOfJob: BSONDocument {
        ["_id": ["$gte": ["job": .string(job), "range": 0], "$lt": ["job": .string(job), "range": .maxKey]]]
    }

    /// Returns the job's record with the counts of its threads' records added; `nil` if it is not among the records.
    static func joined(_ records: [BSONDocument]) throws(BSONError) -> BSONDocument? {
        guard var joined = records.first(where: { thread(of: $0) == 0 }) else { return nil }
        guard records.count > 1 else { return joined }
        for (name, value) in sums(of: records) { joined = try joined.replacing(name, with: value) }
        return joined
    }

    private static func thread(of record: BSONDocument) -> Int? { record["_id"]?.document?["range"]?.integer }

    /// The fields of the records of all threads together: the sums of the counts, and the newest times.
    private static func sums(of records: [BSONDocument]) -> [(String, BSONValue)] {
        let root = records.first { thread(of: $0) == 0 }
        let ofPass = root?["upper"] == nil ? [] : records.filter { $0["pass"]?.integer == root?["pass"]?.integer }
        func sum(_ name: String, _ records: [BSONDocument]) -> (String, BSONValue)? {
            let counts = records.compactMap { $0[name]?.integer }
            return counts.isEmpty ? nil : (name, .integer(counts.reduce(0, +)))
        }
        let times = ["written", "active", "updated"].compactMap { name in
            records.compactMap { ServerTime($0[name]) }.max { $0.milliseconds < $1.milliseconds }.map {
                (name, BSONValue.date(milliseconds: $0.milliseconds))
            }
        }
        return ["chunks", "modified", "updates", "journaled"].compactMap { sum($0, records) }
            + [sum("walked", ofPass)].compactMap(\.self) + times
    }
}
