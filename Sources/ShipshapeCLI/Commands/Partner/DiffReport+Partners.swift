internal import BSON
internal import Concurrency
internal import Mongo
internal import Partners
internal import SchemaChange

extension DiffReport {
    /// The partners of the collections of which something would break, as a state database knows them.
    /// - Parameter place: where the documents of a collection of the schemas are.
    func partners(
        in stateDatabase: String, on pool: ClientPool, place: (Namespace) -> Namespace = { $0 }
    ) async throws -> [PartnerCollection] {
        let breaking = changes.filter { $0.kind.verdict >= .versioned }
        let names = Set(breaking.compactMap { $0.oldNamespace ?? $0.namespace })
        guard !names.isEmpty else { return [] }
        let byPlace = Dictionary(names.map { (place($0), $0) }) { first, _ in first }
        let registry = PartnerRegistry(stateDatabase, on: pool)
        let places = byPlace.keys.sorted()
        let found = try await onOwnedThread(name: "partners") { () throws in try registry.partners(of: places) }
        return found.map { partner in
            var partner = partner
            partner.source = byPlace[partner.source] ?? partner.source
            return partner
        }
    }
}
