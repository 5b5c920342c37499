import BSON
import TestSupport
import Testing

/// Tests steps and jobs that have a condition `where`, so that they apply only to matching documents.
///
/// A `where` replaces conditions such as `if oldSchemaVersion < 3` in a client's migration code.
@Suite struct ConditionTests {
    private func people(_ test: BackfillCase) async throws -> [BSONDocument] {
        try await test.database.documents("people").sorted { ($0["_id"]?.integer ?? 0) < ($1["_id"]?.integer ?? 0) }
    }

    private func step(_ step: String, where condition: String) -> String { "\(step)\n    where: \(condition)" }

    @Test func aDefaultOfAnEarlierVersionIsNotForDocumentsOfALaterOne() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", (1...4).map { ["_id": .integer($0), "schemaVersion": .integer($0)] })
            try test.job(steps: [
                step("default: {field: email, value: \"\"}", where: "{$lt: [$schemaVersion, 3]}"),
                step("expression: {field: schemaVersion, value: 4}", where: "{$lt: [$schemaVersion, 4]}"),
            ])
            #expect(try await test.backfill().exitCode == 0)
            let after = try await people(test)
            #expect(after.map { $0["email"] } == ["", "", nil, nil])
            #expect(after.map { $0["schemaVersion"] } == [4, 4, 4, 4])
            #expect(try test.report(try await test.backfill("job", "--output", "json"))["outcome"] == "nothing_to_do")
            #expect(try await test.steer("undo", "job", "--yes").exitCode == 0)
            #expect(try await people(test).map { $0["schemaVersion"] } == [1, 2, 3, 4])
        }
    }

    @Test func aJobsConditionIsForAllOfItsSteps() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", (1...4).map { ["_id": .integer($0), "schemaVersion": .integer($0), "a": "x"] })
            try test.job(
                steps: ["rename: {from: a, to: b}", "convert: {field: schemaVersion, to: string, into: version}"],
                more: "where: {$gte: [$schemaVersion, 3]}")
            #expect(try await test.backfill().exitCode == 0)
            let after = try await people(test)
            #expect(after.map { $0["a"] } == ["x", "x", nil, nil])
            #expect(after.map { $0["version"] } == [nil, nil, "3", "4"])
        }
    }

    /// The step neither changes nor reports a document that its condition excludes.
    @Test func documentsThatTheConditionExcludesAreNotReported() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "v": "x", "old": true], ["_id": 2, "v": "x"]])
            try test.job(steps: [step("convert: {field: v, to: int}", where: "{$ne: [$old, true]}")])
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 1)
            let left = try test.report(run)["steps"]?.document?.values.first?.document?["left_alone"]?.document?.values
            #expect(left?.first?.document?["documents"] == 1 && left?.first?.document?["sample_ids"] == [2])
        }
    }

    @Test(arguments: [
        "schemaVersion, which the step", "put that step after all steps that read it",
    ])
    func aConditionOverWhatAnEarlierStepWritesIsRefused(_ words: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "schemaVersion": 1]])
            try test.job(steps: [
                "expression: {field: schemaVersion, value: 4}",
                step("default: {field: email, value: \"\"}", where: "{$lt: [$schemaVersion, 3]}"),
            ])
            let run = try await test.backfill()
            #expect(run.exitCode == 65)
            #expect(run.errors.replacing("\"", with: "").contains(words), "\(run.errors)")
            #expect(try await people(test).allSatisfy { $0["email"] == nil && $0["schemaVersion"] == 1 })
        }
    }

    /// The job is refused, because its second step makes the condition of its first step true again in every run.
    @Test func aConditionThatALaterStepMakesTrueIsRefused() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "schemaVersion": 5]])
            try test.job(steps: [
                step("default: {field: email, value: \"\"}", where: "{$eq: [$schemaVersion, 4]}"),
                "expression: {field: schemaVersion, value: 4}",
            ])
            let run = try await test.backfill()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("would never end"), "\(run.errors)")
        }
    }

    @Test func anOperatorThatIsNotLetInIsRefused() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1]])
            try test.job(steps: [step("default: {field: a, value: 1}", where: "{$rand: {}}")])
            let run = try await test.backfill()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("cannot use $rand"), "\(run.errors)")
        }
    }

    /// The job converts documents of the schema versions 1 to 3 to version 4, and a second run converts later writes of
    /// old clients.
    ///
    /// Version 1 has an `age`, version 2 adds an `email`, version 3 has a `fullName` in place of two names, and version
    /// 4 has `yearsSinceBirth` in place of the `age`.
    @Test func fourMixedVersionsArriveAtTheNewestWhileOldClientsWriteOn() async throws {
        try await Mongod.shared.withBackfill { test in
            try test.write(
                "v4.json",
                #"""
                {"title": "Person", "bsonType": "object",
                 "required": ["_id", "schemaVersion", "email", "fullName", "yearsSinceBirth"],
                 "properties": {"_id": {"bsonType": "int"}, "schemaVersion": {"bsonType": "int"},
                  "email": {"bsonType": "string"}, "fullName": {"bsonType": "string"},
                  "yearsSinceBirth": {"bsonType": "int"}}}
                """#)
            let name: BSONDocument = ["firstName": "Ada", "lastName": "King"]
            func version(_ number: Int, _ fields: BSONDocument) throws -> BSONDocument {
                try BSONDocument(
                    [("_id", .integer(number)), ("schemaVersion", .integer(number))]
                        + fields.elements().map { ($0.name, $0.value) })
            }
            try await test.database.fill(
                "people",
                [
                    try version(1, name.appending("age", 36)),
                    try version(2, name.appending("age", 36).appending("email", "ada@example.com")),
                    try version(3, ["age": 36, "email": "ada@example.com", "fullName": "Ada King"]),
                    try version(4, ["email": "x", "fullName": "Ada King", "yearsSinceBirth": 36]),
                ])
            try test.job(
                steps: [
                    step("default: {field: email, value: \"\"}", where: "{$lt: [$schemaVersion, 2]}"),
                    step(
                        "combine: {into: fullName, template: \"{firstName} {lastName}\", whenPresent: refresh}",
                        where: "{$ne: [{$type: $firstName}, missing]}"),
                    step(
                        "copy: {from: age, to: yearsSinceBirth, whenPresent: refresh}",
                        where: "{$ne: [{$type: $age}, missing]}"),
                    step("expression: {field: schemaVersion, value: 4}", where: "{$lt: [$schemaVersion, 4]}"),
                ], more: "schema: {next: v4.json}")
            #expect(try await test.backfill().exitCode == 0)
            // Old clients continue: one changes an age, one changes a name, and one makes a person of version 1.
            try await test.database.set("people", 2, ["age": 37])
            try await test.database.set("people", 1, ["lastName": "Lovelace"])
            try await test.database.fill(
                "people", [["_id": 5, "schemaVersion": 1, "firstName": "Bob", "lastName": "Hope", "age": 50]])
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 0, "\(run.output)")
            let report = try test.report(run)
            #expect(report["unsyncable_after"] == 0 && report["refreshed"] == 2)
            let names = ["_id", "schemaVersion", "email", "fullName", "yearsSinceBirth"]
            let newest = try await people(test).map { person in names.map { person[$0] } }
            #expect(
                newest == [
                    [1, 4, "", "Ada Lovelace", 36], [2, 4, "ada@example.com", "Ada King", 37],
                    [3, 4, "ada@example.com", "Ada King", 36], [4, 4, "x", "Ada King", 36], [5, 4, "", "Bob Hope", 50],
                ])
            #expect(try test.report(try await test.backfill("job", "--output", "json"))["outcome"] == "nothing_to_do")
        }
    }
}
