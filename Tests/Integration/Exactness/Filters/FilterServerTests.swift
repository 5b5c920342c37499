import BSON
import Checking
import Mongo
import ServerSchema
import TestSupport
import Testing

/// Tests that the filter of each group of violations, run on the server, finds the documents that the checker counts in
/// the group.
///
/// If the filter claims to be exact, it must find no other documents.
@Suite struct FilterServerTests {
    @Test(arguments: FilterCase.all) func theFilterFindsTheGroup(_ sample: FilterCase) async throws {
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
        let groups = try await FilteredGroup.compare(documents, schema, options)
        let ours = groups.filter { $0.group.violation.rule == sample.rule }
        let ids = Set(ours.flatMap(\.ids))
        #expect(ids == Set(sample.failing.indices.map { .integer($0) }), "who fails \(sample.rule)")
        #expect(ours.allSatisfy { $0.group.filterIsExact == sample.isExact })
    }

    @Test(arguments: [
        (#"{ "bsonType": "objectId" }"#, Rule.idTypeMismatch, [1, "x", ["a": 1], .bool(true)] as [BSONValue]),
        (#"{ "bsonType": "int" }"#, .idTypeMismatch, ["x", 5.5, .objectID(ObjectID(high: 1, low: 2))]),
        (#"{ "bsonType": "string" }"#, .nullID, [.null]),
    ])
    func theIDsOwnRules(_ type: String, _ rule: Rule, _ failing: [BSONValue]) async throws {
        let fitting: [BSONValue] = [.objectID(ObjectID(high: 9, low: 9)), .int(9), .long(10), "fits"]
        let schema = #"{ "bsonType": "object", "properties": { "_id": \#(type) } }"#
        let groups = try await FilteredGroup.compare((failing + fitting).map { ["_id": $0] }, schema)
        let ids = Set(groups.filter { $0.group.violation.rule == rule }.flatMap(\.ids))
        #expect(ids.isSuperset(of: failing))
    }

    @Test(.server(from: 5, for: "field names with a leading $")) func aWriteLockAndAnExtraFieldOfTheRoot() async throws
    {
        let schema = #"{ "bsonType": "object", "properties": { "_id": { "bsonType": "int" } } }"#
        let groups = try await FilteredGroup.compare(
            [
                ["_id": 1], ["_id": 2, "_id__baas_transaction": 1], ["_id": 3, "other": 1], ["_id": 4, "a.b": 1],
                ["_id": 5, "a": ["b": 1]], ["_id": 6, "$c": 1],
            ], schema)
        #expect(groups.first { $0.group.violation.rule == .reservedField }?.ids == [2])
        #expect(Set(groups.filter { $0.group.violation.rule == .extraField }.flatMap(\.ids)) == [3, 4, 5, 6])
    }

    @Test func everyRuleIsTried() {
        let ofSync: Set<Rule> = [
            .partitionMissing, .partitionType, .linkType, .linkNullItem, .mixedDBRef, .valueTooLarge,
        ]
        let ofIDs: Set<Rule> = [.idTypeMismatch, .nullID, .reservedField]
        let tried = Set(FilterCase.all.map(\.rule)).union(ofIDs.union(ofSync).map(\.code))
        let types = tried.filter { !$0.rawValue.hasPrefix("constraint-") }
        #expect(types.count == 36)
        #expect(tried.count - types.count == 19)
    }
}
