import BSON
import Jobs
import Mongo
import Running
import Steps

/// Inserts the documents that a step creates in other collections, in the transaction that writes the links to them.
struct ChildWriter {
    let context: ClientContext

    /// Inserts the documents that do not exist yet; existing documents stay as they are.
    /// - Returns: the documents of the chunk whose linked documents all exist with exactly the content that the step
    ///   computed.
    func create(
        for documents: [DueDocument], in transaction: borrowing FencedTransaction
    ) throws -> [DueDocument] {
        let created = documents.flatMap { $0.change?.created ?? [] }
        guard !created.isEmpty else { return documents }
        var differing: Set<ClientCreation> = []
        for (namespace, creations) in Dictionary(grouping: Set(created), by: \.namespace) {
            let all = creations.map(\.document)
            let found = try Lookup(namespace: namespace).documents(all.compactMap { $0["_id"] }, in: context)
            let present = Set(found.values.flatMap { $0 })
            var missing: [BSONDocument] = []
            for document in all where !present.contains(document) {
                if document["_id"].map({ found[IDKey($0)] != nil }) ?? false {
                    differing.insert(ClientCreation(namespace: namespace, document: document))
                } else {
                    missing.append(document)
                }
            }
            try transaction.insert(missing, into: namespace)
        }
        return documents.filter { differing.isDisjoint(with: $0.change?.created ?? []) }
    }
}
