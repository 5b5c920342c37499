import BSON
import Checking
import Mongo
import Proving
import Scanning
import ServerSchema
import TestSupport
import Testing

/// Tests prefilters: with a prefilter, the server itself leaves out documents that fit a validator.
@Suite("A validator as a prefilter")
struct JSONSchemaPrefilterTests {
    @Test(
        "holds back just the documents that fit, over random schemas",
        .server(from: 6, for: "field names with a leading $, and queries over every subtype of encrypted data"),
        arguments: [21, 22, 23] as [UInt64])
    func generated(seed: UInt64) async throws {
        var generator = CaseGenerator(seed: seed)
        var heldBackCount = 0
        try await Mongod.shared.withDatabase { database in
            for number in 0..<60 {
                let sample = generator.next()
                guard let compiled = JudgingSchema(sample.schema).compiled, let proof = compiled.proof else { continue }
                let collection = "c\(number)"
                try await database.fill(collection, sample.documents)
                let heldBack = Set(try await database.documents(collection, proof).compactMap { $0["_id"] })
                let fitting = try sample.documents.filter { try compiled.check($0.view) == .fits }
                #expect(heldBack == Set(fitting.compactMap { $0["_id"] }), "\(sample.schema)")
                heldBackCount += heldBack.count
            }
        }
        #expect(heldBackCount > 100, "a filter that holds nothing back proves nothing")
    }

    @Test("finds the same as a scan of everything")
    func sameFindings() async throws {
        try await Mongod.shared.withDatabase { database in
            let documents = (0..<3_000).map { index -> BSONDocument in
                ["_id": .integer(index), "n": index % 7 == 0 ? "x" : .integer(index), "when": .integer(index % 11)]
            }
            try await database.fill("a", documents)
            let schema: BSONDocument = [
                "properties": ["n": ["bsonType": "int"], "when": ["not": ["enum": [3]]]], "required": ["n"],
            ]
            let namespace = database.namespace("a")
            let compiled = CompiledSchema(try CollectionSchema(jsonSchema: schema, namespace: namespace))
            let whole = try await CollectionScan(compiled, of: namespace, on: database.pool, options: .init()).run()
            var options = ScanOptions()
            options.prefilter = Prefilter(proof: try #require(compiled.proof))
            let part = try await CollectionScan(compiled, of: namespace, on: database.pool, options: options).run()
            #expect(TallyDigest(part.tally).groups == TallyDigest(whole.tally).groups)
            #expect(part.tally.counts.certain == whole.tally.counts.certain)
            #expect(part.tally.counts.read == whole.tally.counts.certain)
            #expect(whole.tally.counts.read == 3_000)
        }
    }

    @Test("is not built of what the driver or the server refuses in a filter")
    func refused() throws {
        let nameless: BSONDocument = ["properties": ["": ["bsonType": "int"]]]
        var deep: BSONDocument = ["bsonType": "int"]
        for _ in 0..<40 { deep = ["properties": ["a": .object(deep)]] }
        for schema in [nameless, deep] {
            let compiled = CompiledSchema(
                try CollectionSchema(jsonSchema: schema, namespace: Namespace(database: "a", collection: "b")))
            #expect(compiled.proof == nil)
        }
    }
}
