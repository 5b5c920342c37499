import BSON
import Mongo
import Scanning

/// The documents that jobs are about to make unsyncable, recorded before the write.
///
/// The ledger lags behind the writes; until it shows a document, the document counts as pending. The record is shared by
/// all jobs of the state database, as the limit is.
extension StateStore {
    private static let batch = 1_000

    /// Records the harm of the next chunk, with majority.
    ///
    /// A document that the ledger once showed and that was repaired since is pending again.
    func record(harm ids: [BSONValue], of namespace: Namespace) throws(MongoError) {
        try client.upsert("harm", ids: ids.map { .object(key($0, namespace)) }, ["seen": false])
    }

    /// Takes back what was recorded for a chunk that is not written after all, or that it did no harm to.
    func takeBack(harm ids: [BSONValue], of namespace: Namespace) throws(MongoError) {
        try client.delete("harm", ids: ids.map { .object(key($0, namespace)) })
    }

    /// Which of these documents this job has among the pending.
    func pendingHarm(among ids: [BSONValue], of namespace: Namespace) throws(MongoError) -> Set<BSONValue> {
        var pending: Set<BSONValue> = []
        for keys in ids.map({ .object(key($0, namespace)) }).commandSlices() {
            let cursor = client.all("harm", ["_id": ["$in": .array(of: keys)], "seen": false])
            pending.formUnion(try cursor.documents().compactMap { $0["_id"]?.document?["id"] })
        }
        return pending
    }

    /// What other jobs recorded and no run has seen in the ledger yet, as an operator reads it: such a record takes room
    /// until the ledger shows the document.
    func pendingOfOthers() throws(MongoError) -> [String] {
        try client.counts("harm", ["seen": false, "_id.job": ["$ne": .string(job)]], by: "_id.job").compactMap {
            guard let name = $0["_id"]?.text, let count = $0["count"]?.integer else { return nil }
            return
                "job \"\(name)\" recorded \(count) \(count == 1 ? "document" : "documents") that it makes unsyncable and "
                + "that the ledger may not show yet; once they sync again, free their room with "
                + "db.getSiblingDB(\"\(client.database)\").harm.deleteMany({ \"_id.job\": \"\(name)\" })"
        }
    }

    private func key(_ id: BSONValue, _ namespace: Namespace) -> BSONDocument {
        ["job": .string(job), "ns": .string(namespace.description), "id": id]
    }

    /// How many recorded documents the ledger does not show yet.
    /// - Parameter marks: whether what it shows is marked, and is not looked up again; a plan writes nothing.
    func pendingHarm(seenBy ledger: LedgerReader?, marks: Bool) throws -> Int {
        var cursor = client.all("harm", ["seen": false])
        var pending = 0
        var batch: [Namespace: [BSONValue]] = [:]
        var size = 0
        while let document = try cursor.nextDocument() {
            guard let key = document["_id"]?.document, let id = key["id"],
                let namespace = key["ns"]?.text.flatMap({ Namespace($0) })
            else { continue }
            pending += 1
            batch[namespace, default: []].append(id)
            size += 1
            if size == Self.batch {
                pending -= try seen(batch, by: ledger, marks: marks)
                batch = [:]
                size = 0
            }
        }
        return pending - (try seen(batch, by: ledger, marks: marks))
    }

    private func seen(
        _ batch: [Namespace: [BSONValue]], by ledger: LedgerReader?, marks: Bool
    ) throws -> Int {
        guard let ledger else { return 0 }
        var count = 0
        for (namespace, ids) in batch {
            let seen = try ledger.holding(ids, of: namespace)
            for slice in marks ? seen.commandSlices() : [] {
                try client.set(
                    "harm", ["_id.ns": .string(namespace.description), "_id.id": ["$in": .array(of: slice)]],
                    ["seen": true])
            }
            count += seen.count
        }
        return count
    }
}
