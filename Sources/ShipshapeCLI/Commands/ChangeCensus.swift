internal import BSON
internal import Mongo
internal import Scanning
internal import SchemaChange
internal import ServerSchema

/// Counts the documents that each of some changes concerns, as they are before the deploy: one pass per collection.
struct ChangeCensus {
    private let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// The counts, in the order of the changes; `nil` for a change of the app as a whole.
    /// - Throws: ``MongoError``.
    func weights(on client: borrowing Client) throws(MongoError) -> [ChangeWeight?] {
        var weights = [ChangeWeight?](repeating: nil, count: changes.count)
        for namespace in Set(changes.compactMap(\.oldNamespace)).sorted() {
            let indices = changes.indices.filter { changes[$0].oldNamespace == namespace }
            let paths = Array(Set(indices.map { changes[$0].oldPath }))
            let counts = try PathCensus(of: paths).counts(in: namespace, on: client)
            let byPath = Dictionary(zip(paths, counts)) { first, _ in first }
            for index in indices { weights[index] = byPath[changes[index].oldPath].map(ChangeWeight.init) }
        }
        return weights
    }
}

extension ChangeWeight {
    fileprivate init(_ count: PathCensus.Count) {
        let types = count.types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        self.init(
            documents: count.documents, holding: count.holding, lacking: count.lacking,
            types: types.map { TypeCount(type: $0.key, documents: $0.value) })
    }
}
