import BSON
import Checking
import Conformance
import Mongo
import Scanning
import ServerSchema
import TestSupport
import Testing

/// Tests that the short form of each filter finds the same documents on the server as the long form.
@Suite struct ShortFilterTests {
    /// Tallies odd documents, and compares both forms of the filters for one path.
    ///
    /// - Returns: the number of short forms.
    @discardableResult
    private func compare(
        _ schema: CompiledSchema, at names: [String], _ values: [BSONValue?] = [], in database: TestDatabase
    ) async throws -> Int {
        let documents = OddDocuments.all(at: names, values.compactMap(\.self))
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(schema, options: options)
        for document in documents { try tally.add(document.view) }
        let collection = names.joined(separator: "_")
        try await database.fill(collection, documents)
        let path = SchemaPath(names.map { .field($0) })
        return try await FilterForms(tally, at: path).compare(in: collection, documents, database)
    }

    @Test(.server(from: 5, for: "field names with a leading $"), arguments: FilterCase.all)
    func everyRule(_ sample: FilterCase) async throws {
        try await Mongod.shared.withDatabase { database in
            for names in [["f"], ["o", "f"], ["o", "p", "f"]] {
                var schema = sample.schema
                for (depth, name) in names.enumerated().reversed() {
                    let required = sample.isRequired && depth == names.count - 1 ? #""required": ["f"],"# : ""
                    let id = depth == 0 ? #""_id": { "bsonType": "int" },"# : ""
                    schema = #"{ "bsonType": "object", \#(required) "properties": { \#(id) "\#(name)": \#(schema) } }"#
                }
                let read = try ServerSchema.read(text: schema, namespace: database.namespace("a"))
                var options = CheckOptions()
                options.allowsMixedCollections = sample.allowsMixedCollections
                let compiled = CompiledSchema(read.collections[0], options: options)
                try await compare(compiled, at: names, sample.failing + sample.others, in: database)
            }
        }
    }

    @Test(
        .server(from: 5, for: "field names with a leading $"),
        arguments: [
            #"{ "bsonType": ["int", "double"], "minimum": 0, "maximum": 5, "exclusiveMaximum": true }"#,
            #"{ "bsonType": ["long", "decimal"], "minimum": -1, "exclusiveMinimum": true, "maximum": 0.5 }"#,
            #"{ "enum": ["OPEN", "a", 5, null, true] }"#, #"{ "enum": [1.5, { "$numberDecimal": "NaN" }] }"#,
            #"{ "enum": [{ "n": 1 }, "a"] }"#, #"{ "minLength": 1, "pattern": "^[a-z]\\z" }"#,
            #"{ "bsonType": "array", "minItems": 1 }"#, #"{ "bsonType": ["null", "string"] }"#,
            #"{ "oneOf": [{ "bsonType": "null" }, { "bsonType": "string", "enum": ["a"] }] }"#,
        ])
    func everyKeywordOfAValidator(_ keywords: String) async throws {
        try await Mongod.shared.withDatabase { database in
            for names in [["f"], ["o", "f"]] {
                let schema = names.reversed().reduce(keywords) { inner, name in
                    #"{ "required": ["\#(name)"], "properties": { "\#(name)": \#(inner) } }"#
                }
                let text = #"{ "$jsonSchema": \#(schema) }"#
                let read = try ServerSchema.read(text: text, namespace: database.namespace("a"))
                let count = try await compare(CompiledSchema(read.collections[0]), at: names, in: database)
                #expect(count > 0)
            }
        }
    }

    @Test(.server(from: 5, for: "field names with a leading $"))
    func theTypesAndValuesOfPrisma() async throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            enum State {
              OPEN
              aa
            }
            type Inner {
              p State
              i Int
            }
            model a {
              id Int @id @map("_id")
              s State
              i Int
              b BigInt
              d Float?
              t DateTime?
              k String @db.ObjectId
              o Inner
            }
            """
        let read = try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
            .serverSchema(database: "app")
        let schema = CompiledSchema(try #require(read.collections.first))
        try await Mongod.shared.withDatabase { database in
            for names in [["s"], ["i"], ["b"], ["d"], ["t"], ["k"], ["o"], ["o", "p"], ["o", "i"]] {
                let count = try await compare(schema, at: names, in: database)
                #expect(count > 1, "\(names)")
            }
        }
    }

    @Test(.server(from: 5, for: "field names with a leading $"), arguments: EngineCase.all)
    func everyRuleOfAnEngine(_ test: EngineCase) async throws {
        // Some rules are about very long texts, or about very many fields.
        let values = test.breaks.values.prefix(5).filter { $0.byteCount < 1_000 }
        var options = CheckOptions()
        options.engine = try test.settings
        let read = try ServerSchema.read(
            text: #"{ "bsonType": "object" }"#, namespace: Namespace(database: "app", collection: "Task"))
        let schema = CompiledSchema(read.collections[0], options: options)
        try await Mongod.shared.withDatabase { database in
            for names in [["age"], ["short"], ["o", "at"]] {
                try await compare(schema, at: names, values, in: database)
            }
        }
    }

    /// A filter that compares texts is short only if the server shows that the collection has no collation.
    @Test func aCollationDecidesHowTextsAreCompared() async throws {
        try await Mongod.shared.withDatabase { database in
            let collation: BSONDocument = ["locale": "en", "strength": 2]
            try await database.run(["create": "collated", "collation": .object(collation)])
            let documents: [BSONDocument] = [
                ["_id": 1, "s": "OPEN"], ["_id": 2, "s": "open"], ["_id": 3, "s": ["x"]],
            ]
            let text = #"{"$jsonSchema": {"properties": {"s": {"bsonType": "string", "enum": ["OPEN"]}}}}"#
            for name in ["plain", "collated"] {
                try await database.fill(name, documents)
                let namespace = database.namespace(name)
                let read = try ServerSchema.read(text: text, namespace: namespace)
                let scan = CollectionScan(
                    CompiledSchema(read.collections[0]), of: namespace, on: database.pool, options: .init())
                let groups = try await scan.run().tally.violationGroups
                let group = try #require(groups.first { $0.violation.rule == .notInEnum })
                let short: BSONDocument = ["s": ["$type": "string", "$nin": ["OPEN"], "$not": ["$type": "array"]]]
                #expect((group.filter == short) == (name == "plain"), "\(group.filter)")
                #expect(try await database.ids(group.filter, in: name) == [2])
            }
        }
    }
}
