package import BSON
import Concurrency
import Jobs
package import Mongo

/// The collection `sessions`: the server sessions of the runners that may have a transaction open.
///
/// The server keeps the transaction of a killed runner open until its time limit, and other clients that write the same
/// documents wait as long. Another runner of the job ends the session as soon as its record is no longer renewed. This
/// cannot damage anything: if the first runner is still alive, it only repeats a chunk.
package struct SessionStore {
    private let client: StoreClient
    package let job: String
    /// The number of the runner's thread that uses the session, as ``RangeStore/thread`` has it.
    package let thread: Int

    package init(client: StoreClient, job: String, thread: Int = 0) {
        (self.client, self.job, self.thread) = (client, job, thread)
    }

    private static let collection = "sessions"

    /// How often a runner renews its record.
    package static let beat = Duration.seconds(1)
    /// The age of a record at which its runner counts as dead.
    package static let longest = Duration.seconds(3)

    private func key(_ owner: ObjectID) -> BSONValue {
        ["job": .string(job), "owner": .objectID(owner), "thread": .integer(thread)]
    }

    private var ofJob: BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "owner": .maxKey]]]
    }

    /// Records the session of a runner before its first transaction, and the time of the server.
    /// - Parameters:
    ///   - session: the session's `lsid`.
    ///   - user: the digest of the user's name by which the server knows the session's owner.
    package func open(_ session: BSONDocument, by user: BSONValue, of owner: ObjectID) throws(MongoError) {
        try client.upsert(
            Self.collection, ids: [key(owner)],
            [
                "at": "$$NOW", "lsid": ["$literal": .object(session)], "uid": ["$literal": user],
            ])
    }

    /// Records that a runner is alive.
    package func renew(_ owner: ObjectID) throws(MongoError) {
        try client.client.runWriteCommand(
            [
                "update": .string(Self.collection),
                "updates": [["q": ["_id": key(owner)], "u": [["$set": ["at": "$$NOW"]]]]], "writeConcern": ["w": 1],
            ], on: client.database)
    }

    /// Deletes the record of a runner that has no transaction open.
    package func close(_ owner: ObjectID) throws(MongoError) {
        try client.delete(Self.collection, ids: [key(owner)])
    }

    /// Ends the sessions of runners whose records have not been renewed for ``longest``.
    ///
    /// The server answers `ok` even if it did not end a session, for example for lack of a privilege. The next write to
    /// the record of the job's lease shows whether a transaction is still open.
    /// - Parameter owner: the runner that asks; its own session is not ended.
    /// - Returns: whether another runner has renewed its record since.
    package func endDead(except owner: ObjectID) throws(MongoError) -> Bool {
        let isOld: BSONValue = ["$lt": ["$at", ["$subtract": ["$$NOW", .long(Self.longest.milliseconds)]]]]
        let found = try client.all(Self.collection, ofJob, adding: ["isOld": isOld]).documents().filter {
            $0["_id"]?.document?["owner"] != .objectID(owner)
        }
        let dead = found.filter { $0["isOld"]?.isTrue ?? true }
        guard !dead.isEmpty else { return !found.isEmpty }
        let own = try client.client.sessionUser()
        for record in dead {
            guard let session = record["lsid"]?.document, let id = session["id"] else { continue }
            let user = record["uid"] ?? own
            let named: BSONDocument = user == own ? ["id": id] : ["id": id, "uid": user]
            // Without the privilege, the server ends the transaction at its own time limit.
            do throws(MongoError) { try client.client.killSessions([named]) } catch  where error.isTransient {
                throw error
            } catch {}
        }
        try client.delete(Self.collection, ids: dead.compactMap { $0["_id"] })
        return dead.count < found.count
    }
}

extension Client {
    /// Returns the digest of the user's name by which the server knows the owner of this client's sessions.
    package func sessionUser() throws(MongoError) -> BSONValue {
        let status = try runReadCommand(["connectionStatus": 1], on: "admin")
        let user = status["authInfo"]?.document?["authenticatedUsers"]?.document?.values.first?.document
        let name = user.map { "\($0["user"]?.text ?? "")@\($0["db"]?.text ?? "")" } ?? ""
        return .binary(subtype: 0, bytes: SHA256.digest(of: Array(name.utf8)))
    }
}
