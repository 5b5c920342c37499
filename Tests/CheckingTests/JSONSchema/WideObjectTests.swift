import BSON
import Checking
import ServerSchema
import Testing

/// Tests objects with more fields than the checker's bit set can hold without an allocation.
@Suite struct WideObjectTests {
    private let names = (0..<700).map { "field\($0)" }

    private func schema() throws -> CompiledSchema {
        let properties = BSONDocument(names.map { ($0, ["bsonType": "int"]) })
        return CompiledSchema(
            try CollectionSchema(
                jsonSchema: ["properties": .object(properties), "required": .array(of: names.map { .string($0) })],
                namespace: .people))
    }

    private func document(without missing: String? = nil, adding more: [(String, BSONValue)] = []) -> BSONDocument {
        BSONDocument([("_id", 1)] + names.filter { $0 != missing }.map { ($0, 1) } + more)
    }

    @Test func aFieldIsMissedWhereverTheSchemaNamesIt() throws {
        let schema = try schema()
        #expect(try schema.check(document().view) == .fits)
        for name in ["field0", "field255", "field256", "field257", "field699"] {
            let document = document(without: name)
            let found = try schema.violations(in: document.view, includingInfo: false)
            #expect(found.map { "\($0.path)" } == [name])
            #expect(try schema.check(document.view) == .certain)
        }
    }

    @Test func ofANameThatRepeatsTheFirstFieldIsJudged() throws {
        let schema = try schema()
        for name in ["field0", "field256", "field699"] {
            #expect(try schema.check(document(adding: [(name, "text")]).view) == .fits)
            let wrong: [(String, BSONValue)] = [(name, "text")]
            let fields = try document().elements().map { ($0.name, $0.value) }
            #expect(try schema.check(BSONDocument(wrong + fields).view) == .certain)
        }
    }
}
