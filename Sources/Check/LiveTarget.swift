package import BSON
import Concurrency
package import Mongo

/// The state of one of the schema's collections in the deployment, where the collection might not exist.
package struct LiveTarget: Sendable {
    package var exists: Bool
    package var kind = CollectionInfo.Kind.collection
    /// The UUID, which distinguishes the collection from another one of the same name.
    ///
    /// `nil` for a view, for a collection that does not exist, and if the UUID is unknown.
    package var uuid: BSONValue?
    package var estimatedCount: Int?

    package static func find(_ namespace: Namespace, on client: borrowing Client) throws(MongoError) -> LiveTarget {
        guard let info = try client.readableCollection(namespace) else {
            return LiveTarget(exists: false)
        }
        guard info.kind == .collection else { return LiveTarget(exists: true, kind: info.kind, uuid: info.uuid) }
        return LiveTarget(
            exists: true, uuid: info.uuid, estimatedCount: try client.collection(namespace).estimatedCount())
    }

    /// Throws if the collection was dropped, renamed or replaced while it was read.
    ///
    /// Without this check, the read would look complete: a scan continues with a new cursor, which finds no documents
    /// if the collection is gone.
    package func checkUnchanged(_ namespace: Namespace, on pool: ClientPool) async throws {
        let now = try await onOwnedThread(name: "look-up") { () throws in
            try LiveTarget.find(namespace, on: try pool.client())
        }
        guard now.exists, now.uuid == uuid else { throw ReplacedError(namespace: namespace) }
    }
}

/// An error for a collection that was dropped, renamed or replaced while it was read.
package struct ReplacedError: Error, CustomStringConvertible {
    package let namespace: Namespace

    package var description: String {
        "\(namespace) was dropped, renamed or replaced while it was read, so there is no result: check again"
    }
}

extension ClientPool {
    /// Returns the server's reason for refusing a filter; `nil` if the server accepts it.
    package func refusal(of filter: BSONDocument, in namespace: Namespace) async throws -> String? {
        let find: BSONValue = ["find": .string(namespace.collection), "filter": .object(filter)]
        return try await withClient { client throws(MongoError) in
            do throws(MongoError) {
                let command: BSONDocument = ["explain": find, "verbosity": "queryPlanner"]
                _ = try client.runReadCommand(command, on: namespace.database)
                return nil as String?
            } catch {
                guard error.domain == .server, !error.isTransient, !error.isAuthorization else { throw error }
                return error.message
            }
        }
    }
}
