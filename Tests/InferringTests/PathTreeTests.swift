import BSON
import Inferring
import ServerSchema
import Testing

/// Tests that the counts of paths do not depend on the order of the documents, and need bounded memory.
@Suite struct PathTreeTests {
    /// Documents of many shapes; the objects in `keys` have so many different keys that not all are counted separately.
    private static let documents = Case.documents(600) { index in
        var fields: [(String, BSONValue)] = [("a", index % 3 == 0 ? "s" : .integer(index))]
        if index % 4 == 0 { fields.append(("b", ["c": [1, "x", ["d": .integer(index)]], "e": .null])) }
        if index % 2 == 0 { fields.append(("keys", Case.object([("k\(index)", 1), ("k\(index + 1)", ["in": "v"])]))) }
        if index % 5 == 0 { fields.append(("a", true)) }
        fields.append(("few", .string("v\(index % 4)")))
        return fields
    }

    private static func json(_ inference: Inference) throws -> String {
        let rows = inference.paths.map { row in
            "\(row.path) \(row.types) \(row.values) \(row.presence.map { "\($0)" } ?? "") \(row.suspicions) "
                + "\(row.candidates.map { "\($0)" } ?? "") \(row.longestArray.map(String.init) ?? "")"
        }
        return try inference.json + "\n" + rows.joined(separator: "\n")
    }

    @Test(arguments: [1, 7, 100, 599]) func mergingIsAssociativeAndCommutes(_ step: Int) throws {
        let options = Case.options(enums: true)
        let expected = try Self.json(Case.inference(of: Self.documents, options))
        let parts = try stride(from: 0, to: 600, by: step).map { start in
            try Case.survey(Self.documents[start..<min(600, start + step)], options)
        }
        var fromLeft = Survey(options)
        for part in parts { fromLeft.merge(part) }
        var fromRight = Survey(options)
        for part in parts.reversed() {
            var sum = part
            sum.merge(fromRight)
            fromRight = sum
        }
        var pairs = parts
        while pairs.count > 1 {
            pairs = stride(from: 0, to: pairs.count, by: 2).map { index in
                var sum = pairs[index]
                if index + 1 < pairs.count { sum.merge(pairs[index + 1]) }
                return sum
            }
        }
        for survey in [fromLeft, fromRight, pairs[0]] {
            #expect(try Self.json(Inference(survey, of: Case.namespace, options: options)) == expected)
        }
    }

    @Test func theOrderOfFieldsAndDocumentsDoesNotMatter() throws {
        let turned = try Self.documents.reversed().map { document in
            // Fields with the same name keep their order.
            let elements = try document.elements()
            let repeated = elements.filter { $0.name == "a" }
            return BSONDocument((elements.filter { $0.name != "a" }.reversed() + repeated).map { ($0.name, $0.value) })
        }
        let expected = try Self.json(Case.inference(of: Self.documents))
        #expect(try Self.json(Case.inference(of: turned)) == expected)
    }

    @Test func aNameThatIsRepeatedCountsOnce() throws {
        let inference = try Case.inference(of: Case.documents(2) { _ in [("x", 1), ("x", "s")] })
        let row = try #require(inference.summary("x"))
        #expect(row.presence?.count == 2 && row.presence?.of == 2)
        #expect(row.values == 4)
    }

    @Test func manyKeysThatDifferAreADictionary() throws {
        let documents = Case.documents(300) { index in [("d", Case.object([("k\(index)", 1), ("k\(index + 5)", 2)]))] }
        let inference = try Case.inference(of: documents)
        #expect(inference.property("d") == ["bsonType": "object", "additionalProperties": ["bsonType": "int"]])
        #expect(inference.summary("d{}")?.values == 600)
        let server = try Case.inference(of: documents, Case.options(.jsonSchema))
        #expect(server.property("d") == ["bsonType": "object", "additionalProperties": ["bsonType": "int"]])
        #expect(try Case.outcome(server, on: documents).failing == 0)
    }

    @Test func manyKeysThatAllHaveOrOfManyTypesAreAnEmbeddedObject() throws {
        let wide = BSONValue.object(BSONDocument((0..<40).map { ("k\($0)", 1) }))
        let same = try Case.inference(of: Case.documents(50) { _ in [("d", wide)] })
        #expect(same.property("d")?["properties"]?.document?["k39"] == ["bsonType": "int"])
        let kinds = try Case.inference(
            of: Case.documents(100) { index in
                [("d", Case.object([("k\(index % 40)", index % 40 < 20 ? .int(1) : .string("s"))]))]
            })
        #expect(kinds.property("d")?["properties"]?.document?["k39"] == ["bsonType": "string"])
    }

    @Test func tooManyKeysAreFoldedWhateverTheyHold() throws {
        let wide = BSONValue.object(BSONDocument((0..<5_000).map { ("k\($0)", $0 % 2 == 0 ? 1 : "s") }))
        let documents = Case.documents(3) { _ in [("d", wide)] }
        let inference = try Case.inference(of: documents)
        #expect(inference.property("d") == ["bsonType": "object", "additionalProperties": ["bsonType": "mixed"]])
        #expect(inference.paths.count == 3)
        #expect(try Case.outcome(inference, on: documents).failing == 0)
    }

    @Test func theDocumentsThemselvesKeepTheirKey() throws {
        let documents = Case.documents(40) { index in (0..<50).map { ("f\(index)_\($0)", .integer($0)) } }
        for dialect in [Dialect.appServices, .jsonSchema] {
            let inference = try Case.inference(of: documents, Case.options(dialect))
            #expect(inference.required == ["_id"])
            #expect(inference.type("_id") == "int")
            #expect(inference.paths.count == 2)
            #expect(try Case.outcome(inference, on: documents).failing == 0)
        }
    }

    @Test func pathsAreBounded() throws {
        var limits = PathTree.Limits()
        limits.maximumNodes = 500
        var tree = PathTree(limits: limits)
        for index in 0..<200 {
            let inner = BSONDocument((0..<20).map { ("i\(index)_\($0)", .integer($0)) })
            let document: BSONDocument = ["_id": .integer(index), "o\(index)": .object(inner)]
            try tree.add(document.view)
            #expect(tree.pathCount <= 500)
        }
        #expect(tree.isCrowded)
        #expect(tree.documents == 200)
    }

    @Test func enumsAreOfferedOnlyOnDemandAndOnlyOfFewValues() throws {
        let documents = Case.documents(400) { index in
            [("few", .string("v\(index % 3)")), ("many", .string("v\(index % 50)")), ("id", .string("\(index)"))]
        }
        #expect(try Case.inference(of: documents).property("few") == ["bsonType": "string"])
        let inference = try Case.inference(of: documents, Case.options(enums: true))
        #expect(inference.property("few") == ["bsonType": "string", "enum": ["v0", "v1", "v2"]])
        #expect(inference.property("many") == ["bsonType": "string"])
        #expect(inference.property("id") == ["bsonType": "string"])
        #expect(try Case.outcome(inference, on: documents).failing == 0)
    }

    @Test func nothingIsSaidOfValues() throws {
        let secret = Case.documents(200) { _ in [("x", "hunter2"), ("n", 4_711)] }
        for dialect in [Dialect.appServices, .jsonSchema] {
            let inference = try Case.inference(of: secret, Case.options(dialect))
            #expect(try !inference.json.contains("hunter2") && !inference.json.contains("4711"))
            #expect(inference.paths.allSatisfy { $0.candidates == nil })
        }
    }
}
