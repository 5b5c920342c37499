import BSON
import Checking
import Mongo
import ServerSchema
import TestSupport
import Testing

/// A group's filter, run on the server, finds the documents of the group: those and no others where it says so.
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
        let groups = try await compare(documents, schema, sample.allowsMixedCollections)
        let ours = groups.filter { $0.group.violation.rule == sample.rule }
        let ids = Set(ours.flatMap(\.ids))
        #expect(ids == Set(sample.failing.indices.map { .integer($0) }), "who fails \(sample.rule)")
        #expect(ours.allSatisfy { $0.group.filterIsExact == sample.isExact })
    }

    @Test(arguments: [
        (#"{ "bsonType": "objectId" }"#, RuleCode.idTypeMismatch, [1, "x", ["a": 1], .bool(true)] as [BSONValue]),
        (#"{ "bsonType": "int" }"#, .idTypeMismatch, ["x", 5.5, .objectID(ObjectID(high: 1, low: 2))]),
        (#"{ "bsonType": "string" }"#, .nullID, [.null]),
    ])
    func theIDsOwnRules(_ type: String, _ rule: RuleCode, _ failing: [BSONValue]) async throws {
        let fitting: [BSONValue] = [.objectID(ObjectID(high: 9, low: 9)), .int(9), .long(10), "fits"]
        let schema = #"{ "bsonType": "object", "properties": { "_id": \#(type) } }"#
        let groups = try await compare((failing + fitting).map { ["_id": $0] }, schema, true)
        let ids = Set(groups.filter { $0.group.violation.rule == rule }.flatMap(\.ids))
        #expect(ids.isSuperset(of: failing))
    }

    @Test func aWriteLockAndAnExtraFieldOfTheRoot() async throws {
        let schema = #"{ "bsonType": "object", "properties": { "_id": { "bsonType": "int" } } }"#
        let groups = try await compare(
            [
                ["_id": 1], ["_id": 2, "_id__baas_transaction": 1], ["_id": 3, "other": 1], ["_id": 4, "a.b": 1],
                ["_id": 5, "a": ["b": 1]], ["_id": 6, "$c": 1],
            ], schema, true)
        #expect(groups.first { $0.group.violation.rule == .reservedField }?.ids == [2])
        #expect(Set(groups.filter { $0.group.violation.rule == .extraField }.flatMap(\.ids)) == [3, 4, 5, 6])
    }

    @Test func everyRuleIsTried() {
        let tried = Set(FilterCase.all.map(\.rule)).union([.idTypeMismatch, .nullID, .reservedField])
        #expect(tried.count == 30)
    }
}

extension FilterServerTests {
    /// A group, and the `_id`s of the documents that the checker itself puts there.
    private struct Found {
        let group: ViolationGroup
        let ids: Set<BSONValue>
    }

    /// Checks the documents one by one, and each group's filter against them on the server.
    private func compare(
        _ documents: [BSONDocument], _ schema: String, _ allowsMixedCollections: Bool
    ) async throws -> [Found] {
        try await Mongod.shared.withDatabase { database in
            var options = CheckOptions()
            options.allowsMixedCollections = allowsMixedCollections
            let read = try ServerSchema.read(text: schema, namespace: database.namespace("a"))
            let compiled = CompiledSchema(read.collections[0], options: options)
            try await database.fill("a", documents)
            let (groups, members) = try tally(documents, compiled)
            var found: [Found] = []
            for group in groups {
                let ids = members[group.violation] ?? []
                #expect(group.count == ids.count)
                let onServer = try await database.ids(group.filter, in: "a")
                #expect(onServer.isSuperset(of: ids), "\(group.violation)")
                if group.filterIsExact { #expect(onServer == ids, "\(group.violation)") }
                found.append(Found(group: group, ids: ids))
            }
            return found
        }
    }

    private func tally(
        _ documents: [BSONDocument], _ schema: CompiledSchema
    ) throws -> ([ViolationGroup], [Violation: Set<BSONValue>]) {
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(schema, options: options)
        var members: [Violation: Set<BSONValue>] = [:]
        for document in documents {
            try tally.add(document.view)
            for violation in try schema.violations(in: document.view, includingInfo: true) {
                members[violation, default: []].insert(document["_id"] ?? .undefined)
            }
        }
        return (tally.violationGroups, members)
    }
}
