import BSON
import Checking
import DemoData
import Foundation
import Scanning
import ServerSchema
import SystemPackage
import Testing

/// Tests that the check of a file has the same result with any number of threads.
@Suite struct FileThreadsTests {
    private static let schema = """
        { "bsonType": "object", "required": ["_id", "customer", "address"], "properties": {
            "_id": { "bsonType": "objectId" }, "customer": { "bsonType": "string" }, "total": { "bsonType": "double" },
            "isPaid": { "bsonType": "bool" }, "placed": { "bsonType": "date" },
            "address": { "bsonType": "object", "properties": { "city": { "bsonType": "string" } } } } }
        """
    /// More documents than fit into one block of the reader; a tenth of them have a flaw.
    private static let documents = (0..<8_000).map { FlatOrder.document(at: $0, isFlawed: true) }

    private func scan(_ path: String, threads: Int) throws -> Tally {
        let namespace = Namespace(database: "bench", collection: "Order")
        let schema = try ServerSchema.read(text: Self.schema, namespace: namespace)
        var options = ScanOptions()
        options.threads = threads
        let part = SourceScan.Part(CompiledSchema(schema.collections[0]), options)
        return try SourceScan([part], source: path).run().tallies[0]
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bson")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        try body(file.path)
    }

    @Test func theFirstDocumentsOfTheFileAreTheSamples() throws {
        try withFile(Self.documents.flatMap(\.bytes)) { path in
            let one = try scan(path, threads: 1)
            #expect(one.counts.read == Self.documents.count)
            #expect(one.violationGroups.count > 5)
            for threads in [2, 3, 7] {
                let several = try scan(path, threads: threads)
                #expect(several.counts == one.counts)
                #expect(several.violationGroups == one.violationGroups)
            }
        }
    }

    @Test func theFirstDamageOfTheFileIsReported() throws {
        let bytes = Self.documents.flatMap(\.bytes)
        var starts = [0]
        for document in Self.documents { starts.append(starts[starts.count - 1] + document.bytes.count) }
        // Each damage changes one byte: the type of a document's first element, a document's length, or its terminator.
        // Some of the files also lack the end of the last document.
        let damages: [(Int, UInt8)] = [
            (starts[5_000] + 4, 0x44), (starts[6_001], 0), (starts[7_501] - 1, 1), (starts[31] + 4, 0x44),
        ]
        for count in 1...damages.count {
            var damaged = bytes
            for (offset, byte) in damages.prefix(count) { damaged[offset] = byte }
            if count == 3 { damaged.removeLast(7) }
            try expectSameDamage(damaged)
        }
        try expectSameDamage(Array(bytes.dropLast(7)))
        try expectSameDamage(Array(bytes.prefix(starts[4_000] + 2)))
    }

    private func expectSameDamage(_ bytes: [UInt8]) throws {
        try withFile(bytes) { path in
            let expected = #expect(throws: DumpError.self) {
                var reader = try BSONFileReader(FilePath(path), validating: true)
                while try reader.next() != nil {}
            }
            for threads in [1, 2, 5] {
                let reported = #expect(throws: DumpError.self) { try scan(path, threads: threads) }
                #expect(reported == expected)
            }
        }
    }
}
