import BSON
import Checking
import Proving
import TestSupport
import Testing

/// Tests that the filter of each group of violations finds the documents that the checker counts in the group.
///
/// Users copy this filter into a shell.
@Suite("Filters of the jsonschema dialect find their groups")
struct JSONSchemaFilterTests {
    @Test(
        "over random schemas", .server(from: 5, for: "field names with a leading $"),
        arguments: [11, 12, 13] as [UInt64])
    func generated(seed: UInt64) async throws {
        var generator = CaseGenerator(seed: seed)
        var exactCount = 0
        for _ in 0..<60 {
            let sample = generator.next()
            guard JudgingSchema(sample.schema).compiled != nil else { continue }
            let validator = try BSONDocument([("$jsonSchema", .object(sample.schema))]).extendedJSON()
            // The driver refuses filters with an empty field name, although mongosh sends them.
            guard !validator.contains("\"\" :") else { continue }
            let groups = try await FilteredGroup.compare(sample.documents, validator)
            exactCount += groups.count { $0.group.filterIsExact }
        }
        #expect(exactCount > 30)
    }

    @Test("where what is at the end of a path lacks a field")
    func requiredBelowAPath() async throws {
        let documents: [BSONDocument] = [["_id": 1, "a": [[:]]], ["_id": 2, "a": [["c": 1]]], ["_id": 3]]
        let validator = #"{"$jsonSchema": {"properties": {"a.0": {"minLength": 4, "required": ["c"]}}}}"#
        let groups = try await FilteredGroup.compare(documents, validator)
        #expect(groups.ids(.requiredMissing) == [1])
    }
}
