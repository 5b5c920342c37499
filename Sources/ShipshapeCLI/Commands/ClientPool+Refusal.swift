internal import BSON
internal import Mongo

extension ClientPool {
    /// Why the server does not take a filter; `nil` when it does.
    func refusal(of filter: BSONDocument, in namespace: Namespace) async throws -> String? {
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
