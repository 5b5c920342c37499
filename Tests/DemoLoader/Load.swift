import ArgumentParser
import BSON
import DemoData
import Mongo

/// The command `demo-data load`, which fills a deployment.
struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Loads the collections of the demo app, and its ledger of unsynced documents.")

    @Option(help: "The connection string of the deployment.")
    var uri: String

    @Option(help: "The part of the full size, 200,000 documents, to load.")
    var scale = 1.0

    @Flag(help: "Drop the collections first, when they hold documents.")
    var replace = false

    /// The number of documents in each insert command.
    private static let batchSize = 1_000

    func validate() throws {
        guard scale > 0, scale <= 100 else { throw ValidationError("--scale: \(scale) is not above 0 and up to 100") }
    }

    func run() async throws {
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        let documents = max(100, Int(Double(DemoData.documentCount) * scale))
        let collections = DemoData.collections(documents: documents)
        try await prepare(collections.map(\.namespace) + [DemoData.ledgerNamespace], in: pool)
        for collection in collections {
            try await load(collection.count, into: collection.namespace, of: pool) { collection.document(at: $0) }
        }
        let ledger = DemoData.ledger(documents: documents)
        try await load(ledger.count, into: DemoData.ledgerNamespace, of: pool) { ledger[$0] }
    }

    /// If `--replace` is given, drops the collections that have documents.
    ///
    /// Otherwise, throws an error if a collection has documents, because the documents may belong to a user.
    private func prepare(_ namespaces: [Namespace], in pool: ClientPool) async throws {
        let replaces = replace
        let filled = try await pool.withClient { client throws(MongoError) in
            var filled: [String] = []
            for namespace in namespaces where try client.collection(namespace).estimatedCount() > 0 {
                filled.append("\(namespace)")
                if replaces {
                    try client.runWriteCommand(["drop": .string(namespace.collection)], on: namespace.database)
                }
            }
            return filled
        }
        guard filled.isEmpty || replaces else {
            throw ValidationError("\(filled.joined(separator: ", ")) hold documents; --replace drops them")
        }
    }

    /// Inserts the documents on a separate thread, and prints their number.
    private func load(
        _ count: Int, into namespace: Namespace, of pool: ClientPool,
        _ document: @Sendable @escaping (Int) -> BSONDocument
    ) async throws {
        try await pool.withClient { client throws(MongoError) in
            let collection = client.collection(namespace)
            for start in stride(from: 0, to: count, by: Self.batchSize) {
                let batch = start..<min(start + Self.batchSize, count)
                try collection.insert(batch.map(document), isOrdered: false)
            }
        }
        print("\(namespace): \(count) documents")
    }
}
