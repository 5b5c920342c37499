package import BSON
import Backfill
import JobState
package import Mongo

/// The partners of a state database, seen and steered from any machine.
package struct PartnerRegistry: Sendable {
    let stateDatabase: String
    let pool: ClientPool

    /// Opens nothing yet.
    package init(_ stateDatabase: String, on pool: ClientPool) {
        (self.stateDatabase, self.pool) = (stateDatabase, pool)
    }

    func client() throws(MongoError) -> StoreClient {
        StoreClient(database: stateDatabase, client: try pool.client())
    }

    func id(of partner: Partner) -> BSONDocument { ["_id": ["job": .string(partner.stateName), "range": 0]] }

    /// Keeps what a comparison found, for who looks at the partner later.
    /// - Returns: why it could not be kept, a clause.
    package func keep(_ comparison: PartnerComparison, of partner: Partner) throws -> String? {
        let found: BSONDocument = [
            "differences": .integer(comparison.count), "originals": .integer(comparison.originals),
            "partners": .integer(comparison.partners),
            "time": comparison.time.map { .timestamp($0.rawValue) } ?? .null,
            "text": .string(PartnerState.digest(of: partner.job)),
        ]
        do throws(MongoError) {
            try client().note(
                StateStore.streams, id(of: partner),
                ["verified": ["$mergeObjects": [["$literal": .object(found)], ["at": "$$NOW"]]]])
            return nil
        } catch {
            guard error.isAuthorization else { throw error }
            return "the result is not kept: the user may not write the state database \"\(stateDatabase)\""
        }
    }
}

extension PartnerRegistry {
    /// The verified partners of these collections, a clause for each: a change of the original is theirs to serve.
    ///
    /// Who may not read the state database learns of none.
    package func serving(_ namespaces: [Namespace]) throws(MongoError) -> [String] {
        let names = namespaces.map { BSONValue.string("\($0)") }
        let records: [BSONDocument]
        do throws(MongoError) {
            records = try client().all(
                StateStore.streams, ["source": ["$in": .array(of: names)], "verified.differences": 0]
            ).documents()
        } catch {
            guard error.isAuthorization else { throw error }
            return []
        }
        return records.compactMap { record in
            guard let source = record["source"]?.text, let target = record["target"]?.text,
                let verified = record["verified"]?.document, verified["text"]?.text == record["text"]?.text,
                let time = ServerTime(verified["at"])
            else { return nil }
            return
                "the partner \(target) serves the change of \(source): compared at \(time) with no difference, so no document "
                + "of \(source) has to change as long as the original keeps its schema"
        }
    }
}
