package import BSON
import Concurrency
package import Mongo
import Partners
package import SchemaChange

extension DiffReport {
    /// Returns the partner collections in the state database that may affect the verdicts on changes of this report.
    ///
    /// The result is empty if there are no such collections, or if the user cannot read the state database.
    ///
    /// A partner collection is returned if the report has versioned or breaking changes of its original collection, or
    /// if a change adds the partner collection itself.
    /// - Parameter place: returns the collection in the deployment for a collection that the schemas describe.
    package func partners(
        in stateDatabase: String, on pool: ClientPool, place: (Namespace) -> Namespace = { $0 }
    ) async throws -> [PartnerCollection] {
        let breaking = changes.filter { $0.kind.verdict >= .versioned }
        let sources = Set(breaking.compactMap { $0.oldNamespace ?? $0.namespace }).sorted()
        let added = Set(changes.filter { $0.code == .typeAdded }.compactMap(\.namespace)).sorted()
        guard !(sources + added).isEmpty else { return [] }
        let byPlace = Dictionary((sources + added).map { (place($0), $0) }) { first, _ in first }
        let registry = PartnerRegistry(stateDatabase, on: pool)
        let (sourcePlaces, addedPlaces) = (sources.map(place), added.map(place))
        let found = try await onOwnedThread(name: "partners") { () throws in
            try registry.partners(of: sourcePlaces, targets: addedPlaces)
        }
        return found.map { partner in
            var partner = partner
            partner.source = byPlace[partner.source] ?? partner.source
            partner.target = byPlace[partner.target] ?? partner.target
            return partner
        }
    }
}
