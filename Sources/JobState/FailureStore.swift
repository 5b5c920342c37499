package import BSON
package import Mongo

/// The collection `failed`: documents that the job's runs have skipped.
package struct FailureStore {
    let client: StoreClient
    let job: String

    /// Records a document, with majority: before the job passes it over.
    package func skip(_ failure: Failure) throws(MongoError) {
        try client.put(
            "failed", id: failedKey(failure.id),
            ["code": .integer(failure.code), "name": .string(failure.name), "phase": .integer(failure.phase)])
    }

    /// Records documents that stayed locked, many in a command.
    package func skip(locked ids: [BSONValue], phase: Int) throws(MongoError) {
        var keys: [BSONValue] = []
        for id in ids { keys.append(failedKey(id)) }
        try client.upsert(
            "failed", ids: keys,
            ["code": 0, "name": .string(Failure.locked), "phase": .integer(phase), "at": "$$NOW"])
    }

    /// All that are recorded.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func all() throws -> [Failure] {
        try client.allChecked("failed", ["_id.job": .string(job)]).compactMap { document in
            guard let id = document["_id"]?.document?["id"] else { return nil }
            return Failure(
                id: id, code: document["code"]?.integer ?? 0, name: document["name"]?.text ?? "",
                phase: document["phase"]?.integer ?? 0)
        }
    }

    /// Takes the records of these documents away: they need the job no more.
    package func forget(_ ids: [BSONValue]) throws(MongoError) {
        var keys: [BSONValue] = []
        for id in ids { keys.append(failedKey(id)) }
        try client.delete("failed", ids: keys)
    }

    private func failedKey(_ id: BSONValue) -> BSONValue { ["job": .string(job), "id": id] }
}
