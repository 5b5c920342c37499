import BSON
import TestSupport
import Testing

/// Tests steps that replace links by values from a lookup collection.
@Suite struct ClientLookupTests {
    @Test func eachLinkGetsTheValueThatTheLookupGives() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "ids", [["_id": 1, "to": "one"], ["_id": 2, "to": "two"], ["_id": "x", "to": nil]])
            let people: [BSONDocument] = [
                ["_id": 1, "owner": 1], ["_id": 2, "owner": .long(2)], ["_id": 3, "owner": [1, 2, 1]],
                ["_id": 4, "owner": "one"], ["_id": 5, "owner": 9], ["_id": 6, "owner": nil], ["_id": 7],
                ["_id": 8, "owner": ["one", 2]], ["_id": 9, "owner": [1, 9]], ["_id": 10, "owner": "x"],
            ]
            try await test.database.fill("people", people)
            try test.job(steps: ["map: {field: owner, lookup: \(test.database.name).ids}"])
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"]?.integer == 4)
            #expect(report.skipped("the lookup does not know the value") == 3)
            #expect(
                try await test.database.documents("people").map { $0["owner"] } == [
                    "one", "two", ["one", "two", "one"], "one", 9, .null, nil, ["one", "two"], [1, 9], "x",
                ])
        }
    }

    @Test func theTargetsThemselvesCanKnowTheirOldKey() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "owners",
                [["_id": "A", "old": 1], ["_id": "B", "old": 2], ["_id": "C", "old": 3], ["_id": "D", "old": 3]])
            try await test.database.fill("people", (1...3).map { ["_id": .integer($0), "owner": .integer($0)] })
            try test.job(
                steps: ["map: {field: owner, lookup: \(test.database.name).owners, key: old, value: _id}"])
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report.skipped("the lookup gives several values") == 1)
            #expect(try await test.database.documents("people").map { $0["owner"] } == ["A", "B", 3])
        }
    }

    /// The lookup collection maps `a` to `b`, and also `b` to `c`, so a second run would map the new value `b` again.
    ///
    /// The program therefore refuses both a dry run and a run.
    @Test func aLookupWhoseNewValuesAreOldOnesTooIsRefused() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("ids", [["_id": "a", "to": "b"], ["_id": "b", "to": "c"]])
            let people: [BSONDocument] = [["_id": 1, "owner": "a"], ["_id": 2, "owner": "b"]]
            try await test.database.fill("people", people)
            try test.job(steps: ["map: {field: owner, lookup: \(test.database.name).ids}"])
            for flags in [["--dry-run"], []] {
                let run = try await test.backfill(flags: flags)
                #expect(run.exitCode == 65, "\(run.errors)")
                #expect(run.errors.contains("would never end"), "\(run.errors)")
            }
            #expect(try await test.database.documents("people") == people)
            try test.job(
                "once", steps: ["map: {field: owner, lookup: \(test.database.name).ids, once: _remapped}"])
            #expect(try await test.runThreeTimes("once")["changed"]?.integer == 2)
            #expect(
                try await test.database.documents("people") == [
                    ["_id": 1, "owner": "b", "_remapped": true], ["_id": 2, "owner": "c", "_remapped": true],
                ])
        }
    }
}
