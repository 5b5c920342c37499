import BSON
import Checking
package import Mongo
import Scanning
package import SchemaChange
import ServerSchema

/// Counts the documents that new unique indexes refuse, before the deploy.
package struct KeyCensus {
    private let isStopped: @Sendable () -> Bool

    package init(isStopped: @escaping @Sendable () -> Bool = { false }) { self.isStopped = isStopped }

    /// Records the counts in a report whose changes were weighed; a collection is read once.
    /// - Throws: ``MongoError``, ``BSONError`` for a damaged document, or ``TemporaryFileError``.
    package func weigh(_ report: inout DiffReport, on pool: ClientPool) async throws {
        let added = report.changes.indices.filter { report.changes[$0].uniqueKey != nil }
        for namespace in Set(added.compactMap { report.changes[$0].oldNamespace }).sorted() {
            let own = added.filter { report.changes[$0].oldNamespace == namespace }
            let schema = CollectionSchema(own.compactMap { report.changes[$0].uniqueKey }, of: namespace)
            var options = ScanOptions()
            options.isStopped = isStopped
            let result = try await CollectionScan(CompiledSchema(schema), on: pool, options: options).run()
            for (index, key) in zip(own, schema.uniqueKeys) {
                guard !result.unjudgedKeys.contains(key.name) else {
                    report.notes.append("the documents that the unique index \(key.name) refuses were not counted")
                    continue
                }
                report.weigh(index, refused: result.tally.violationGroups.documents(refusedBy: key))
            }
        }
    }
}
