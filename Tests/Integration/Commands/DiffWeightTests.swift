import BSON
import Foundation
import Jobs
import Mongo
import Scanning
import ServerSchema
import TestSupport
import Testing

/// Tests how `diff --uri` counts the documents that each schema change affects, on a real server.
@Suite struct DiffWeightTests {
    private func path(_ steps: SchemaPath.Step...) -> SchemaPath { SchemaPath(steps) }

    @Test(.server(from: 5, for: "field names with a leading $"))
    func aDocumentCountsOnceForEachPlaceWhateverLiesOnTheWay() async throws {
        let documents: [BSONDocument] = [
            ["_id": 1, "a": 1, "list": .array(of: [["n": 1], ["n": "x"], ["m": 1]]), "map": ["x": 1, "y": "s"]],
            ["_id": 2, "a": .null, "list": .array(of: []), "map": [:], "x.y": 1],
            ["_id": 3, "list": .array(of: [1, .null]), "map": ["k": ["n": 2]], "$d": true],
            ["_id": 4, "a": .array(of: [1, 2]), "list": "no list", "map": .array(of: [["n": 1]])],
            ["_id": 5, "a": ["b": ["c": 1]], "list": .array(of: [["n": .null], ["n": 1]])],
        ]
        let paths = [
            path(), path(.field("a")), path(.field("list"), .elements, .field("n")), path(.field("map"), .values),
            path(.field("map"), .values, .field("n")), path(.field("a"), .field("b"), .field("c")),
            path(.field("x.y")), path(.field("$d")), path(.field("list"), .elements),
        ]
        try await Mongod.shared.withDatabase { database in
            try await database.fill("c", documents)
            let namespace = database.namespace("c")
            let counts = try await database.pool.withClient { client throws(MongoError) in
                try PathCensus(of: paths).counts(in: namespace, on: client)
            }
            #expect(counts.map(\.documents) == Array(repeating: 5, count: paths.count))
            #expect(counts.map(\.withField) == [5, 4, 2, 2, 1, 1, 1, 1, 3])
            #expect(counts.map(\.withoutField) == [0, 2, 2, 0, 0, 0, 4, 4, 1])
            #expect(counts[1].types == ["int": 1, "null": 1, "array": 1, "object": 1])
            #expect(counts[2].types == ["int": 2, "string": 1, "null": 1])
            #expect(counts[3].types == ["int": 1, "string": 1, "object": 1])
            let absent = database.namespace("absent")
            let none = try await database.pool.withClient { client throws(MongoError) in
                try PathCensus(of: paths).counts(in: absent, on: client)
            }
            #expect(none.allSatisfy { $0.documents == 0 && $0.withField == 0 })
        }
    }

    @Test func eachChangeSaysHowManyDocumentsItAffects() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Person", count: 40) { number in
                var fields: [(String, BSONValue)] = [("_id", .integer(number))]
                if number < 12 { fields.append(("age", number < 10 ? .int(number == 0 ? 0 : 1) : "old")) }
                if number < 30 { fields.append(("name", .string("n"))) }
                return BSONDocument(fields)
            }
            let name = database.namespace("Person")
            let moved = database.namespace("Human")
            let old = DiffFolder.schema(
                #""age": { "bsonType": "int" }, "name": { "bsonType": "string" }, "gone": { "bsonType": "date" }"#)
            let new = DiffFolder.schema(#""age": { "bsonType": "string" }, "title": { "bsonType": "string" }"#)
            try folder.write(old, to: "v1/\(name).json")
            try folder.write(new, to: "v2/\(moved).json")
            let run = try await Program.run(
                [
                    "diff", "v1", "v2", "SHIPSHAPE_RENAMES=\(name)=\(moved), Person.name=title",
                    "--uri",
                    Mongod.shared.uri, "-o", "json",
                ], in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            let changes = try #require(report["changes"] as? [[String: Any]])
            let counts = changes.map { change in
                let documents = change["documents"] as? [String: Any]
                return "\(change["code"] ?? "") \(change["path"] ?? ""): \(documents?["holding"] ?? "") of "
                    + "\(documents?["total"] ?? "")"
            }
            // The documents are still in the collection of the older schema, and still have the older field names.
            #expect(
                counts == [
                    "collection-moved (root): 40 of 40", "property-removed gone: 0 of 40",
                    "property-type-changed age: 12 of 40", "property-renamed title: 30 of 40",
                ])
            let types = (changes[2]["documents"] as? [String: Any])?["types"] as? [String: Int]
            #expect(types == ["int": 10, "string": 2])
            let text = try await Program.run(
                ["diff", "v1", "v2", "--uri", Mongod.shared.uri, "SHIPSHAPE_RENAMES=\(name)=\(moved)"], in: folder.path)
            #expect(text.output.contains("0 of 40 documents hold this field"))
        }
    }

    @Test func validatorsThatAreLiveAreTheOlderSide() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await Mongod.shared.withDatabase { database in
            let validator: BSONDocument = ["$jsonSchema": ["properties": ["a": ["bsonType": "int"]]]]
            try await database.run(["create": "c", "validator": .object(validator)])
            let name = database.namespace("c").description
            let wider = try folder.write(
                #"{"$jsonSchema": {"properties": {"a": {"bsonType": ["int", "long"]}}}}"#, to: "wider.json")
            let run = try await Program.run(
                ["diff", "live", wider, "--collection", name, "--uri", Mongod.shared.uri])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("Not breaking: 1 change "))
            let back = try await Program.run(
                ["diff", wider, "live", "--collection", name, "--uri", Mongod.shared.uri])
            #expect(back.exitCode == 1)
        }
    }

    @Test func aDeploymentThatIsNotThereIsNamed() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(DiffFolder.schema(#""a": { "bsonType": "int" }"#), to: "app.Person.json")
        let other = try folder.write(DiffFolder.schema(#""a": { "bsonType": "date" }"#), to: "v2/app.Person.json")
        let run = try await Program.run(
            [
                "diff", schema, other, "--collection", "app.Person", "--uri",
                "mongodb://u:secret@127.0.0.1:1/?serverSelectionTimeoutMS=500",
            ])
        #expect(run.exitCode == 69)
        #expect(!run.errors.contains("secret"))
    }
}
