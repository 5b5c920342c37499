import BSON
import Checking
import TestSupport
import Testing

/// Tests that the filter of a group inside `oneOf` or `anyOf` finds the documents that the checker counts in the group.
@Suite struct BranchFilterTests {
    private static let closed = #""additionalProperties": false"#
    private static let own = #""_id": {"bsonType": "int"}"#

    @Test func ofAnOptionalObject() async throws {
        let validator = """
            {"$jsonSchema": {"properties": {"a": {"oneOf": [{"bsonType": "null"}, {"bsonType": "object", \(Self.closed),
              "required": ["n"], "properties": {"n": {"bsonType": "int"}}}]}}}}
            """
        let values: [BSONValue] = [
            .null, ["n": 1], ["n": "x"], ["n": .null], [:], ["n": 1, "x": 2], "text", 5, [["n": 1]],
        ]
        let documents = values.enumerated().map { index, value in
            ["_id": .integer(index), "a": value] as BSONDocument
        }
        let groups = try await FilteredGroup.compare(documents + [["_id": 100]], validator)
        #expect(groups.ids(.typeMismatch) == [2, 3, 6, 7, 8])
        #expect(groups.ids(.requiredMissing) == [4])
        #expect(groups.ids(.additionalProperty) == [5])
        #expect(groups.allSatisfy { $0.group.filterIsExact })
    }

    @Test func ofASchemaThatAFieldSelects() async throws {
        func branch(_ kind: String, _ n: String) -> String {
            """
            {"properties": {\(Self.own), "kind": {"enum": ["\(kind)"]}, "n": {"bsonType": "\(n)"}},
             "required": ["kind", "n"], \(Self.closed)}
            """
        }
        let validator = """
            {"$jsonSchema": {"bsonType": "object", "required": ["_id"], "properties": {\(Self.own)},
              "oneOf": [\(branch("a", "int")), \(branch("b", "string"))]}}
            """
        let documents: [BSONDocument] = [
            ["_id": 0, "kind": "a", "n": 1], ["_id": 1, "kind": "b", "n": "x"], ["_id": 2, "kind": "a", "n": "x"],
            ["_id": 3, "kind": "b", "n": 1], ["_id": 4, "kind": "a"], ["_id": 5, "kind": "b"],
            ["_id": 6, "kind": "c", "n": 1], ["_id": 7, "n": 1], ["_id": 8, "kind": "a", "n": 1, "x": 1],
            ["_id": 9, "kind": "b", "n": "x", "x": 1], ["_id": 10, "kind": 5, "n": "x"],
        ]
        let groups = try await FilteredGroup.compare(documents, validator)
        #expect(groups.ids(.typeMismatch) == [2, 3])
        #expect(groups.ids(.requiredMissing) == [4, 5, 7])
        #expect(groups.ids(.notInEnum) == [6, 10])
        #expect(groups.ids(.additionalProperty) == [8, 9])
        #expect(groups.count == 9)
        #expect(groups.allSatisfy { $0.group.filterIsExact })
    }
}
