import BSON
import Glibc
import TestSupport
import Testing

/// Tests steps that replace links by the documents that they lead to.
@Suite struct ClientEmbedTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "dogs",
                [
                    ["_id": "a", "name": "Ada", "age": 1], ["_id": "b", "name": "Bo", "age": 2],
                    ["_id": 3, "name": "Cy", "age": 3],
                ])
            try await body(test)
        }
    }

    private func embed(_ test: BackfillCase, _ more: String = "") throws {
        try test.job(steps: ["embed: {field: dog, from: \(test.database.name).dogs\(more)}"])
    }

    @Test func eachLinkBecomesTheDocumentWithoutItsID() async throws {
        try await withPeople { test in
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "dog": "a", "z": 1], ["_id": 2, "dog": ["b", .long(3)]], ["_id": 3, "dog": nil],
                    ["_id": 4], ["_id": 5, "dog": ["name": "Here"]], ["_id": 6, "dog": []],
                ])
            try embed(test)
            let dogs = try await test.database.documents("dogs")
            let report = try await test.runThreeTimes()
            #expect(report["changed"]?.integer == 2)
            #expect(
                try await test.database.documents("people") == [
                    ["_id": 1, "dog": ["name": "Ada", "age": 1], "z": 1],
                    ["_id": 2, "dog": [["name": "Bo", "age": 2], ["name": "Cy", "age": 3]]], ["_id": 3, "dog": nil],
                    ["_id": 4], ["_id": 5, "dog": ["name": "Here"]], ["_id": 6, "dog": []],
                ])
            #expect(try await test.database.documents("dogs") == dogs)
        }
    }

    @Test(
        arguments: [
            ("keep: [_id, name]", ["_id": "a", "name": "Ada"]), ("omit: [age]", ["name": "Ada"]),
            ("into: pet", ["name": "Ada", "age": 1]),
        ] as [(String, BSONDocument)])
    func theJobSaysWhichFieldsAndWhere(_ key: String, _ expected: BSONDocument) async throws {
        try await withPeople { test in
            try await test.database.fill("people", [["_id": 1, "dog": "a"], ["_id": 2, "dog": ["b", 3]]])
            try embed(test, ", \(key)")
            try await test.runThreeTimes()
            let first = try await test.database.documents("people")[0]
            let isInto = key.hasPrefix("into")
            #expect(first[isInto ? "pet" : "dog"] == .object(expected))
            #expect(first["dog"] == (isInto ? "a" : .object(expected)))
        }
    }

    @Test func valuesInTheTargetAreComparedAndNeverOverwritten() async throws {
        try await withPeople { test in
            let people: [BSONDocument] = [
                ["_id": 1, "dog": "a", "pet": ["name": "Ada", "age": 1]],
                ["_id": 2, "dog": "b", "pet": ["mine": true]],
                ["_id": 3, "dog": 3, "pet": [1, 2]],
            ]
            try await test.database.fill("people", people)
            try embed(test, ", into: pet")
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"] == 0)
            #expect(report.skipped("target holds another value") == 2)
            #expect(try await test.database.documents("people") == people)
        }
    }

    @Test func orphansAndSharedDocumentsAreReportedBeforeAnythingIsWritten() async throws {
        try await withPeople { test in
            try await test.database.fill(
                "people", [["_id": 1, "dog": "a"], ["_id": 2, "dog": ["a", "b"]], ["_id": 3, "dog": "gone"]])
            try embed(test)
            let people = try await test.database.documents("people")
            let run = try await test.backfill()
            #expect(run.exitCode == 1)
            #expect(
                run.errors.contains("At least one object does not have a backlink (data would get lost). 1 document"))
            #expect(run.errors.contains(#""_id" : 3"#), "\(run.errors)")
            #expect(run.errors.contains("At least one object does have multiple backlinks. 1 document"))
            #expect(run.errors.contains("job.yml:4:"), "\(run.errors)")
            #expect(try await test.database.documents("people") == people)
            #expect(try await !test.hasState())
            let dry = try await test.backfill("job", "--dry-run", "--output", "json")
            #expect(dry.exitCode == 1)
            #expect(dry.output.contains("does not have a backlink"))
        }
    }

    @Test func theOperatorMayAcceptBoth() async throws {
        try await withPeople { test in
            let people: [BSONDocument] = [
                ["_id": 1, "dog": "a"], ["_id": 2, "dog": ["a", "b"]], ["_id": 3, "dog": "gone"],
                ["_id": 4, "dog": "b"],
            ]
            try await test.database.fill("people", people)
            try embed(test, ", orphans: leave, shared: leave")
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"] == 0)
            #expect(report.skipped("At least one object does have multiple backlinks.") == 3)
            #expect(report.skipped("the linked document is not there") == 1)
            #expect(try await test.database.documents("people") == people)
            try test.job(
                "copies", steps: ["embed: {field: dog, from: \(test.database.name).dogs, orphans: leave, shared: copy}"]
            )
            #expect(try await test.runThreeTimes("copies", exitCode: 1)["changed"]?.integer == 3)
            #expect(
                try await test.database.documents("people").map { $0["dog"] } == [
                    ["name": "Ada", "age": 1], [["name": "Ada", "age": 1], ["name": "Bo", "age": 2]], "gone",
                    ["name": "Bo", "age": 2],
                ])
        }
    }

    /// A run is killed after it has embedded the dogs of 20 of the 60 people, so no link leads to these dogs any more.
    ///
    /// The next run starts although no link leads to these dogs, and embeds the other dogs.
    @Test func aRunThatDiedIsEnded() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("dogs", count: 60) { ["_id": .integer($0), "name": .integer($0)] }
            try await test.database.fill("people", count: 60) { ["_id": .integer($0), "dog": .integer(59 - $0)] }
            try test.job(
                steps: ["embed: {field: dog, from: \(test.database.name).dogs}"], limits: "{chunk: {documents: 20}}")
            let killed = try await test.backfill(fault: "after-checkpoint:1")
            #expect(killed.wasKilled)
            #expect(try await test.database.count("people", ["dog": ["$type": "object"]]) == 20)
            try await test.waitForLeaseEnd()
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            for person in try await test.database.documents("people") {
                #expect(person["dog"] == ["name": .integer(59 - (person["_id"]?.integer ?? 0))])
            }
        }
    }

    @Test func aCollectionThatIsNotThereIsNamedWithTheLine() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "dog": "a"]])
            try test.job(steps: ["embed: {field: dog, from: \(test.database.name).nodogs}"])
            let run = try await test.backfill()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("job.yml:4:") && run.errors.contains("nodogs"), "\(run.errors)")
        }
    }

    @Test func aCollectionThatMayNotBeReadIsNamed() async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "dog": "a"]])
            try await test.database.fill("dogs", [["_id": "a"]])
            let name = test.database.name
            try await test.mongod.admin([
                "createRole": .string("people-\(name)"),
                "privileges": [
                    [
                        "resource": ["db": .string(name), "collection": "people"],
                        "actions": ["find", "update", "collStats", "indexStats"],
                    ],
                    ["resource": ["db": .string(name), "collection": ""], "actions": ["listCollections"]],
                ], "roles": [],
            ])
            let user = try await test.mongod.addUser(
                "embed-\(name)", roles: [["role": .string("people-\(name)"), "db": "admin"]])
            try test.job(steps: ["embed: {field: dog, from: \(name).dogs}"])
            let run = try await test.backfill("job", "--dry-run", uri: user)
            #expect(run.exitCode == 77, "\(run.errors)")
            #expect(run.errors.contains("missing find on \(name).dogs"), "\(run.errors)")
        }
    }
}
