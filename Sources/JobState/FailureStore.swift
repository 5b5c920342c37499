package import BSON
package import Mongo

/// A document that a run skipped, because its write failed or because the sync translator kept it locked.
///
/// The sync translator is the part of Device Sync that writes to MongoDB.
package struct Failure: Hashable, Sendable {
    package let id: BSONValue
    /// The server's error code; 0 for a document that the sync translator keeps locked.
    package let code: Int
    /// The reason for skipping the document, in words that contain no value of the document.
    package let name: String
    /// The index of the phase in which the run skipped the document, from 0.
    package let phase: Int

    /// The ``name`` of a document that the sync translator keeps locked.
    package static let locked = "locked by the sync translator"

    package static func locked(_ id: BSONValue, phase: Int) -> Failure {
        Failure(id: id, code: 0, name: locked, phase: phase)
    }

    /// Returns words for an error; the server's message is not used, because it may contain the document's values.
    private static func name(of error: MongoError) -> String {
        words(for: error.code.rawValue) ?? error.codeName ?? "refused by the server"
    }

    /// Returns the words for a server's error code, if the error applies to a single document; otherwise `nil`.
    package static func words(for code: Int) -> String? {
        switch code {
        case 121: "refused by the collection's validator"
        case 11_000: "would be twice in a unique index"
        case 241: "a value cannot be converted"
        case 10_334, 17_419, 17_420: "too large for MongoDB"
        case 15: "nested too deeply for MongoDB"
        default: nil
        }
    }
}

extension Failure {
    package init(_ id: BSONValue, _ error: MongoError, phase: Int) {
        self.init(id: id, code: error.code.rawValue, name: Self.name(of: error), phase: phase)
    }
}

/// The collection `failed`: the documents that the job's runs skipped, because they could not be written.
package struct FailureStore {
    let client: StoreClient
    let job: String

    /// Records a skipped document, and waits until a majority of the members has the record.
    package func skip(_ failure: Failure) throws(MongoError) {
        try client.put(
            "failed", id: failedKey(failure.id),
            ["code": .integer(failure.code), "name": .string(failure.name), "phase": .integer(failure.phase)])
    }

    /// Records documents that the sync translator kept locked, many in one command.
    package func skip(locked ids: [BSONValue], phase: Int) throws(MongoError) {
        try client.upsert(
            "failed", ids: ids.map(failedKey),
            ["code": 0, "name": .string(Failure.locked), "phase": .integer(phase), "at": "$$NOW"])
    }

    /// Returns all recorded failures.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func all() throws -> [Failure] {
        try client.allChecked("failed", ["_id.job": .string(job)]).compactMap { document in
            guard let id = document["_id"]?.document?["id"] else { return nil }
            return Failure(
                id: id, code: document["code"]?.integer ?? 0, name: document["name"]?.text ?? "",
                phase: document["phase"]?.integer ?? 0)
        }
    }

    /// Deletes the records of skipped documents that no longer need the job.
    package func forget(_ ids: [BSONValue]) throws(MongoError) {
        try client.delete("failed", ids: ids.map(failedKey))
    }

    private func failedKey(_ id: BSONValue) -> BSONValue { ["job": .string(job), "id": id] }
}
