import BSON
import Checking
import ServerSchema
import Testing

@testable import Planning

/// Tests the steps for values inside `oneOf` and `anyOf`: those that the selected schema would have alone.
@Suite struct BranchRepairTests {
    private func plan(_ schema: String, _ documents: [BSONDocument]) throws -> SchemaPlan {
        let text = #"{ "$jsonSchema": \#(schema) }"#
        let schema = try ServerSchema.read(text: text, namespace: Namespace(database: "app", collection: "T"))
        var tally = Tally(CompiledSchema(schema.collections[0], of: schema))
        for document in documents { try tally.add(document.view) }
        let report = CheckReport(
            source: "test", collections: [CheckReport.Collection(tally)], ledger: nil, duration: .zero)
        let planner = Planner(from: schema, to: schema, options: PlanOptions())
        let plan = try planner.repairs(of: report, includesPossible: true)
        // A job that does not fit the schemas would throw here.
        for job in plan.jobs where !job.isDraft { _ = try planner.compiled(job) }
        return plan
    }

    private func steps(_ plan: SchemaPlan) -> [String] { plan.jobs.flatMap(\.steps).map(\.text) }

    private static let address = """
        { "bsonType": "object", "additionalProperties": false, "required": ["zip"],
          "properties": { "zip": { "bsonType": "int" }, "city": { "bsonType": "string" } } }
        """

    @Test(arguments: ["oneOf", "anyOf"])
    func anOptionalObjectHasTheStepsOfTheObject(_ keyword: String) throws {
        let documents: [BSONDocument] = [
            ["_id": 1, "a": ["zip": "08001"]], ["_id": 2, "a": [:]], ["_id": 3, "a": ["zip": 1, "fax": "x"]],
            ["_id": 4, "a": ["zip": 1, "city": .null]],
        ]
        let wrapped = try plan(
            #"{ "properties": { "a": { "\#(keyword)": [{ "bsonType": "null" }, \#(Self.address)] } } }"#, documents)
        let plain = try plan(#"{ "properties": { "a": \#(Self.address) } }"#, documents)
        #expect(steps(wrapped) == steps(plain))
        #expect(
            Set(steps(wrapped)) == [
                "unset: {field: a.city, when: \"null\"}", "convert: {field: a.zip, to: int}",
                "default: {field: a.zip, value: 0, when: missingOrNull}", "unset: {field: a.fax}",
            ])
    }

    @Test func aScalarBesideNullIsConverted() throws {
        let schema = #"{ "properties": { "v": { "oneOf": [{ "bsonType": "null" }, { "bsonType": "int" }] } } }"#
        let long: BSONDocument = ["_id": 1, "v": .long(5)]
        let found = steps(try plan(schema, [long, ["_id": 2, "v": .null]]))
        #expect(found == ["convert: {field: v, to: int}"])
    }

    @Test func aStepForOneKindOfDocumentsLeavesTheOthersAlone() throws {
        func kind(_ name: String, _ type: String) -> String {
            """
            { "properties": { "_id": {}, "kind": { "enum": ["\(name)"] }, "v": { "bsonType": "\(type)" } },
              "required": ["kind"], "additionalProperties": false }
            """
        }
        let schema = #"{ "bsonType": "object", "oneOf": [\#(kind("a", "int")), \#(kind("b", "string"))] }"#
        let documents: [BSONDocument] = [
            ["_id": 1, "kind": "a", "v": "5"], ["_id": 2, "kind": "b", "v": 5],
            ["_id": 3, "kind": "b", "v": "x", "extra": true],
        ]
        let planned = steps(try plan(schema, documents))
        #expect(
            Set(planned) == [
                #"{unset: {field: extra}, where: {kind: "b"}}"#, #"{convert: {field: v, to: int}, where: {kind: "a"}}"#,
                #"{convert: {field: v, to: string}, where: {kind: "b"}}"#,
            ])
        let unknown = try plan(schema, [["_id": 4, "kind": "c"]])
        #expect(steps(unknown).isEmpty)
        #expect(unknown.jobs.flatMap(\.entries).flatMap(\.suggestions).map(\.kind) == ["map"])
    }

    @Test func aKindOfListElementsIsLeftToTheUser() throws {
        func kind(_ name: String, _ type: String) -> String {
            """
            { "bsonType": "object", "properties": { "kind": { "enum": ["\(name)"] }, "v": { "bsonType": "\(type)" } } }
            """
        }
        let schema = """
            { "properties": { "l": { "bsonType": "array",
              "items": { "oneOf": [\(kind("a", "int")), \(kind("b", "string"))] } } } }
            """
        let found = try plan(schema, [["_id": 1, "l": [["kind": "a", "v": "5"]]]])
        #expect(steps(found).isEmpty)
    }
}
