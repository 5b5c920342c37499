import ArgumentParser
import BSON
import DemoData
import Foundation

/// The command `demo-data dump`, which writes files.
struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the collections of the demo app as mongodump would, without a deployment.")

    @Option(help: "The folder to write to.")
    var out: String

    @Option(help: "The part of the full size, 200,000 documents, to write.")
    var scale = 0.1

    func validate() throws {
        guard scale > 0, scale <= 100 else { throw ValidationError("--scale: \(scale) is not above 0 and up to 100") }
    }

    func run() throws {
        for collection in DemoData.collections(documents: max(100, Int(Double(DemoData.documentCount) * scale))) {
            let folder = URL(filePath: out).appending(path: collection.namespace.database)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var bytes = Data()
            for index in 0..<collection.count { bytes += collection.document(at: index).bytes }
            try bytes.write(to: folder.appending(path: "\(collection.namespace.collection).bson"))
            print("\(collection.namespace): \(collection.count) documents")
        }
    }
}
