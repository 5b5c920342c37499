public import BSON

/// How much a collection has to do with sync.
///
/// Source: `semantics.md` sections 2.3 and 5.1 of the project's reference.
public enum SyncScope: String, Hashable, Sendable, Codable {
    /// Clients read its documents.
    case synced
    /// Clients only write to it, so that no document of it can be missing for a reader: Data Ingest.
    case asymmetric
    /// It stands in a data source that does not sync.
    case outside
}

extension ServerSchema {
    /// How much a collection has to do with sync; what the export does not tell counts as synced.
    public func scope(of collection: CollectionSchema) -> SyncScope {
        guard let sync else { return .synced }
        if !sync.covers(collection) { return .outside }
        return sync.isAsymmetric(collection) ? .asymmetric : .synced
    }

    /// Leaves one collection to be asked about; the others stay known as what its links may lead to.
    public mutating func narrow(to namespace: Namespace) {
        neighbours += collections.filter { $0.namespace != namespace }
        collections.removeAll { $0.namespace != namespace }
    }
}
