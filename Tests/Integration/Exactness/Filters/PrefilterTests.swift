import BSON
import Checking
import Mongo
import Scanning
import ServerSchema
import TestSupport
import Testing

/// Tests that with a prefilter, the server leaves out only documents in which the checker finds nothing.
@Suite struct PrefilterTests {
    /// Tests the prefilter with the schemas and values of all ``FilterCase``s.
    @Test func everyRulesDocumentsAreStillFound() async throws {
        try await Mongod.shared.withDatabase { database in
            for (number, sample) in FilterCase.all.enumerated() {
                let values = sample.failing + sample.others
                let documents = values.enumerated().map { index, value in
                    BSONDocument([("_id", .integer(index))] + (value.map { [("f", $0)] } ?? []))
                }
                let required = sample.isRequired ? #", "f""# : ""
                let schema = """
                    { "bsonType": "object", "required": ["_id"\(required)],
                      "properties": { "_id": { "bsonType": "int" }, "f": \(sample.schema) } }
                    """
                var options = CheckOptions()
                options.allowsMixedCollections = sample.allowsMixedCollections
                try await expectSame(documents, schema, options, in: database, "c\(number)")
            }
        }
    }

    @Test(.server(from: 5, for: "field names with a leading $")) func nastyDocumentsAreStillFound() async throws {
        try await Mongod.shared.withDatabase { database in
            for (number, schema) in NastyDocuments.schemas.enumerated() {
                try await expectSame(NastyDocuments.all, schema, CheckOptions(), in: database, "n\(number)")
            }
        }
    }

    @Test func randomDocumentsAreStillFound() async throws {
        try await Mongod.shared.withDatabase { database in
            var generator = RandomDocuments(seed: 5)
            let documents = (0..<6_000).map { generator.document($0) }
            for (number, schema) in RandomDocuments.schemas.enumerated() {
                let count = try await expectSame(documents, schema, CheckOptions(), in: database, "r\(number)")
                #expect(count > 10, "a filter that holds nothing back proves nothing")
            }
        }
    }

    @Test func aFittingDocumentIsHeldBack() async throws {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database, count: 7_000)
            var options = ScanOptions()
            let schema = try CompiledSchema(people.namespace, ChangingPeople.schema)
            options.prefilter = Prefilter(proof: try #require(schema.proof))
            let result = try await people.scan(options)
            // The test has people of seven kinds. The prefilter excludes the people of three kinds, because they fit
            // the schema.
            #expect(result.tally.counts.read == 4_000)
            let whole = try await people.scan(ScanOptions())
            #expect(TallyDigest(result.tally).groups == TallyDigest(whole.tally).groups)
        }
    }

    @Test(.server(from: 5, for: "reads of one moment")) func documentsThatChangeDuringTheScanAreJudgedToo() async throws
    {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database)
            var options = try people.options(threads: 2)
            let proof = try #require(try CompiledSchema(people.namespace, ChangingPeople.schema).proof)
            let active = try #require(try CompiledSchema(people.namespace, ChangingPeople.active).proof)
            options.prefilter = Prefilter(proof: ["$and": [.object(proof), .object(active)]])
            let result = try await people.scan(options) { collection in
                for id in 0..<500 { try ChangeKind.allCases[id % 10].apply(to: id * 49, collection) }
            }
            let whole = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally).groups == TallyDigest(whole.tally).groups)
            #expect(result.tally.counts.certain == whole.tally.counts.certain)
            #expect(result.tally.counts.changes == whole.tally.counts.changes)
            #expect(result.clusterTime != nil)
        }
    }
}

extension PrefilterTests {
    /// Inserts documents, and expects that the checker finds nothing in those that the prefilter would leave out.
    ///
    /// - Returns: the number of documents that the prefilter would leave out.
    @discardableResult
    private func expectSame(
        _ documents: [BSONDocument], _ schema: String, _ options: CheckOptions, in database: TestDatabase,
        _ collection: String
    ) async throws -> Int {
        let namespace = database.namespace(collection)
        let read = try ServerSchema.read(text: schema, namespace: namespace)
        let compiled = CompiledSchema(read.collections[0], options: options)
        guard let proof = compiled.proof else { return 0 }
        try await database.fill(collection, documents)
        let heldBack = try await database.documents(collection, proof)
        for document in heldBack {
            #expect(try compiled.check(document.view) == .fits, "\(schema) \(document.bytes)")
        }
        return heldBack.count
    }
}
