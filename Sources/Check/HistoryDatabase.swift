import BSON
import JobState
package import Mongo
package import Reporting

/// The history of `--history db:NAME`: its collection `checks` has a small document of counts for each check.
package struct HistoryDatabase: HistoryStore {
    private let name: String
    private let pool: ClientPool

    private static let collection = "checks"

    package init(_ name: String, on pool: ClientPool) { (self.name, self.pool) = (name, pool) }

    private func client() throws -> StoreClient { StoreClient(database: name, client: try pool.client()) }

    /// Returns the counts of all checks in the database.
    /// - Throws: ``MongoError``.
    package func read() throws -> CheckHistory {
        let documents = try client().all(Self.collection, [:]).documents()
        var foreign: [String] = []
        let summaries = documents.compactMap { document -> CheckSummary? in
            do { return try CheckSummary(document) } catch {
                let id = document["_id"].flatMap { try? $0.extendedJSON(.relaxed) } ?? "(none)"
                foreign.append("\(name).\(Self.collection), _id \(id): \(error)")
                return nil
            }
        }
        return CheckHistory(summaries, passedOver: foreign, in: "db:\(name)")
    }

    /// Adds the counts of a check to the database.
    /// - Throws: ``MongoError``.
    package func add(_ summary: CheckSummary) throws {
        try client().put(Self.collection, id: .string(summary.name), try BSONDocument(extendedJSON: summary.text))
    }

    /// Removes the counts of all checks except the newest ones, and returns how many were removed.
    /// - Throws: ``MongoError``.
    package func keep(_ count: Int) throws -> Int {
        let client = try client()
        let ours = try client.all(Self.collection, [:]).documents().compactMap { document in
            (try? CheckSummary(document)).flatMap { summary in document["_id"].map { (id: $0, at: summary.at) } }
        }
        let old = ours.sorted { $0.at < $1.at }.dropLast(count)
        try client.delete(Self.collection, ids: old.map(\.id))
        return old.count
    }
}
