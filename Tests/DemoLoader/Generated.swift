import ArgumentParser
import BSON
import Mongo
import SystemPackage

/// The options for generated documents: their destination and their number.
struct Generated: ParsableArguments {
    @Option(help: "The connection string of the deployment.")
    var uri: String?

    @Option(help: "The .bson file to write, instead or too.")
    var file: String?

    @Option(help: "How many documents.")
    var count = 1_000_000

    /// The number of documents in each insert command.
    private static let batchSize = 1_000

    func write(to name: String, _ document: @Sendable @escaping (Int) -> BSONDocument) async throws {
        let namespace = Namespace(database: "bench", collection: name)
        if let file { try write(document, to: FilePath(file)) }
        guard let uri else { return }
        let count = count
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        try await pool.withClient { client throws(MongoError) in
            let collection = client.collection(namespace)
            for start in stride(from: 0, to: count, by: Self.batchSize) {
                let batch = start..<min(start + Self.batchSize, count)
                try collection.insert(batch.map(document), isOrdered: false)
            }
        }
        print("\(namespace): \(count) documents")
    }

    private func write(_ document: (Int) -> BSONDocument, to path: FilePath) throws {
        let output = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
        try output.closeAfter {
            for start in stride(from: 0, to: count, by: Self.batchSize) {
                var bytes: [UInt8] = []
                for index in start..<min(start + Self.batchSize, count) { bytes += document(index).bytes }
                try output.writeAll(bytes)
            }
        }
    }
}
