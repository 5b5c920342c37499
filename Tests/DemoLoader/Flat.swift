import ArgumentParser
import BSON
import DemoData
import Mongo
import SystemPackage

/// `demo-data flat`.
struct Flat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Loads flat documents of about 300 bytes into bench.Order, or a .bson file, for measuring.")

    @Option(help: "The connection string of the deployment.")
    var uri: String?

    @Option(help: "The .bson file to write instead.")
    var file: String?

    @Option(help: "How many documents.")
    var count = 1_000_000

    func run() async throws {
        let count = count
        if let file {
            let output = try FileDescriptor.open(
                FilePath(file), .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
            try output.closeAfter {
                for index in 0..<count { try output.writeAll(FlatOrder.document(at: index).bytes) }
            }
        }
        guard let uri else { return }
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        try await pool.withClient { client throws(MongoError) in
            let collection = client.collection(Namespace(database: "bench", collection: "Order"))
            for start in stride(from: 0, to: count, by: 10_000) {
                let batch = start..<min(start + 10_000, count)
                try collection.insertMany(batch.lazy.map(FlatOrder.document), isOrdered: false)
            }
        }
        print("bench.Order: \(count) documents")
    }
}
