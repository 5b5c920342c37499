internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Scanning

extension CheckRun {
    /// Counts on the server what the filter of each group finds.
    func prove(_ part: inout CheckReport.Collection, of selection: BSONDocument, on pool: ClientPool) async throws {
        // The documents of a sample are nowhere recorded.
        if case .sample = part.reading.selection { return }
        let filters = part.groups.map(\.filter)
        let proof = FilterProof(part.reading.namespace ?? part.namespace, selection: selection)
        let counts = try await onOwnedThread(name: "proof") { () throws in
            try proof.counts(filters, on: try pool.client())
        }
        for (index, count) in counts.enumerated() { part.groups[index].provenCount = count }
    }
}
