import BSON
import Checking
import ServerSchema
import Testing

/// Tests the filters of the rules that need the whole app (partitions, links, and targets of DBRefs) or that limit
/// sizes.
@Suite struct FilterSyncTests {
    private static let nowhere = SourceLocation(file: "schema.json", line: 1, column: 1)

    @Test(arguments: [true, false]) func partitions(_ isRequired: Bool) async throws {
        let schema = """
            { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "p": { "bsonType": "string" } } }
            """
        let groups = try await FilteredGroup.compare(
            [
                ["_id": 1, "p": "a"], ["_id": 2], ["_id": 3, "p": nil], ["_id": 4, "p": 5], ["_id": 5, "p": ["a"]],
                ["_id": 6, "p": [nil]],
            ], schema
        ) {
            let key = SyncConfiguration.PartitionKey(field: "p", type: .string, isRequired: isRequired)
            $0.sync = SyncConfiguration(mode: .partition(key), location: Self.nowhere)
        }
        #expect(groups.ids(.partitionMissing) == [2, 3])
        #expect(groups.ids(.partitionType) == [4, 5, 6])
        #expect(groups.allSatisfy { $0.group.filterIsExact })
    }

    @Test func links() async throws {
        let schema = """
            { "bsonType": "object", "properties": {
              "_id": { "bsonType": "int" }, "one": { "bsonType": "objectId" },
              "many": { "bsonType": "array", "items": { "bsonType": "objectId" } },
              "byName": { "bsonType": "object", "additionalProperties": { "bsonType": "objectId" } } } }
            """
        let id = BSONValue.objectID(ObjectID(high: 1, low: 2))
        let groups = try await FilteredGroup.compare(
            [
                ["_id": 1, "one": id, "many": [id], "byName": ["a": id]], ["_id": 2, "one": "x"],
                ["_id": 3, "many": [id, 1]], ["_id": 4, "many": [nil]], ["_id": 5, "byName": ["a": "x"]],
                ["_id": 6, "byName": ["a": nil]], ["_id": 7, "one": [nil], "many": [[nil]]],
            ], schema
        ) { app in
            let namespace = app.collections[0].namespace
            app.collections[0].relationships = ["one", "many", "byName"].map {
                Relationship(source: SchemaPath([.field($0)]), target: namespace, location: Self.nowhere)
            }
            app.collections[0].root.properties[0].node.types = [.objectId]
        }
        #expect(groups.ids(.linkType) == [2, 3, 5, 7])
        #expect(groups.ids(.linkNullItem) == [4])
        #expect(groups.allSatisfy { $0.group.filterIsExact })
    }

    @Test func references() async throws {
        let schema = """
            { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "m": { "bsonType": "mixed" } } }
            """
        let values: [BSONValue?] = [
            ["$ref": "a", "$id": 1], ["$ref": "ghost", "$id": 1], ["$ref": "a", "$id": "x"],
            ["$ref": "a", "$id": 1, "$db": "elsewhere"], ["$ref": "b", "$id": "x", "$db": "elsewhere"],
            ["$ref": "b", "$id": 1, "$db": "elsewhere"], ["$ref": "b", "$id": "x"], [["$ref": "ghost", "$id": 1]],
            ["$id": 1, "$ref": "ghost"], ["$ref": 1, "$id": 1], ["$ref": "a", "$id": .binary(subtype: 4, bytes: [])],
            ["$ref": "ghost"], ["$ref": "$$ROOT", "$id": "$_id", "$db": 1], nil, nil,
        ]
        let documents = values.enumerated().map { index, value in
            BSONDocument([("_id", .integer(index))] + (value.map { [("m", $0)] } ?? []))
        }
        let groups = try await FilteredGroup.compare(documents, schema) { app in
            var other = app.collections[0]
            other.namespace = Namespace(database: "elsewhere", collection: "b")
            other.root.properties = [.init(name: "_id", node: SchemaNode(location: Self.nowhere))]
            other.root.properties[0].node.types = [.string]
            app.collections.append(other)
            app.sync = SyncConfiguration(mode: .flexible, location: Self.nowhere)
            app.isWhole = true
        }
        #expect(groups.ids(.mixedDBRef) == [1, 2, 3, 5, 6, 7, 10, 12])
        let inexact = groups.filter { $0.group.violation.rule == .mixedDBRef && !$0.group.filterIsExact }
        #expect(inexact.map(\.ids) == [[10]])
    }

    @Test func sizes() async throws {
        let schema = """
            { "bsonType": "object", "properties": {
              "_id": { "bsonType": "int" }, "text": { "bsonType": "string" }, "blob": { "bsonType": "binData" } } }
            """
        let large = String(repeating: "x", count: 16_000_001)
        let half = String(repeating: "x", count: 8_000_001)
        let groups = try await FilteredGroup.compare(
            [
                ["_id": 1, "text": .string(large)], ["_id": 2, "text": .string(half), "other": .string(half)],
                ["_id": 3, "blob": .binary(subtype: 0, bytes: Array(large.utf8))], ["_id": 4, "text": .string(half)],
                ["_id": 5, "text": .string(String(large.dropLast()))],
            ], schema)
        #expect(groups.ids(.valueTooLarge) == [1, 2, 3, 5])
        #expect(groups.filter { $0.group.violation.path.isRoot }.map(\.ids) == [[1, 2, 3, 5]])
        let ofValues = groups.filter { ["text", "blob"].contains("\($0.group.violation.path)") }
        #expect(Set(ofValues.flatMap(\.ids)) == [1, 3])
        #expect(groups.isExact(.valueTooLarge))
    }
}
