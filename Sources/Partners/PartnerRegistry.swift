package import BSON
import Concurrency
import JobState
package import Mongo
package import SchemaChange

/// The partners in a state database, which users can inspect from any machine.
package struct PartnerRegistry: Sendable {
    let stateDatabase: String
    let pool: ClientPool

    /// Creates a registry, without opening a connection.
    package init(_ stateDatabase: String, on pool: ClientPool) {
        (self.stateDatabase, self.pool) = (stateDatabase, pool)
    }

    func client() throws(MongoError) -> StoreClient {
        StoreClient(database: stateDatabase, client: try pool.client())
    }

    func id(of partner: Partner) -> BSONDocument { ["_id": ["job": .string(partner.stateName), "range": 0]] }

    /// Records the result of a comparison in the state database.
    /// - Returns: the reason why the result could not be recorded, as a clause; `nil` if it was recorded.
    package func keep(_ comparison: PartnerComparison, of partner: Partner) throws -> String? {
        let found: BSONDocument = [
            "differences": .integer(comparison.count), "originals": .integer(comparison.originals),
            "partners": .integer(comparison.partners),
            "time": comparison.time.map { .timestamp($0.rawValue) } ?? .null,
        ]
        // A partner job has two digests, because earlier versions of the program computed the digest in another way.
        // The comparison is stored with the digest that the partner's record contains. If the record contains neither,
        // the comparison is stored with the current digest.
        let digests = BSONValue.array(of: PartnerState.digests(of: partner.job).map { .string($0) })
        let text: BSONValue = [
            "$cond": [["$in": ["$text", digests]], "$text", .string(PartnerState.digest(of: partner.job))]
        ]
        do throws(MongoError) {
            try client().set(
                StateStore.streams, id(of: partner),
                [
                    "verified": ["$mergeObjects": [["$literal": .object(found)], ["at": "$$NOW", "text": text]]],
                    "carries": PartnerChange.carried(partner.job),
                ])
            return nil
        } catch {
            guard error.isAuthorization else { throw error }
            return "the result is not saved: the user cannot write to the state database \"\(stateDatabase)\""
        }
    }
}

extension PartnerRegistry {
    /// Returns the partners with an original in `sources` or a partner collection in `targets`.
    ///
    /// Each result says whether a schema change can rely on the partner. The result is empty if the user cannot read
    /// the state database.
    package func partners(of sources: [Namespace], targets: [Namespace]) throws(MongoError) -> [PartnerCollection] {
        let isAny = { (namespaces: [Namespace]) -> BSONValue in
            ["$in": .array(of: namespaces.map { .string("\($0)") })]
        }
        let records: [BSONDocument]
        do throws(MongoError) {
            records = try client().all(
                StateStore.streams, ["$or": [["source": isAny(sources)], ["target": isAny(targets)]]],
                adding: ["now": "$$NOW"]
            ).documents()
        } catch {
            guard error.isAuthorization else { throw error }
            return []
        }
        return records.compactMap { PartnerState($0).partner }.sorted { $0.name < $1.name }
    }
}
