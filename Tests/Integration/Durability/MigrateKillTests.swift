import BSON
import TestSupport
import Testing

/// `kill -9` at every place where `migrate` can be, then once more: the outcome of a migration that was never disturbed.
@Suite struct MigrateKillTests {
    private static let documents = 30

    private func people(_ number: Int) -> BSONDocument { ["_id": .integer(number), "age": .integer(number)] }

    private func writeJobs(_ test: BackfillCase) throws {
        let limits = "{chunk: {documents: 10}}"
        try test.job("1-email", steps: [#"default: {field: email, value: ""}"#], limits: limits)
        try test.job("2-years", steps: ["copy: {from: age, to: years}"], limits: limits)
    }

    @Test(.timeLimit(.minutes(20))) func aMigrationKilledAnywhereEndsLikeOneThatNeverStopped() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, people)
            try writeJobs(test)
            #expect(try await test.migrate().exitCode == 0)
            let expected = try await test.database.documents("people")
            let applied = try await test.state.documents("migrations").map {
                [$0["_id"], $0["digest"], $0["findings"]]
            }
            var (deaths, visit) = (0, 1)
            while true {
                try await test.state.run(["dropDatabase": 1])
                try await test.database.run(["drop": "people"])
                try await test.database.fill("people", count: Self.documents, people)
                let run = try await test.migrate(fault: "any:\(visit):kill", lease: "1s")
                guard run.wasKilled else {
                    // The places are all behind it: it went through.
                    #expect(run.exitCode == 0, "\(run.errors)")
                    break
                }
                deaths += 1
                let rest = try await test.migrate("--lease-wait", "20s", lease: "1s")
                #expect(rest.exitCode == 0, "visit \(visit): \(rest.errors)")
                #expect(try await test.database.documents("people") == expected, "visit \(visit)")
                let now = try await test.state.documents("migrations").map {
                    [$0["_id"], $0["digest"], $0["findings"]]
                }
                #expect(now == applied, "visit \(visit)")
                visit += TestScale.pick(7, full: 1, torture: 1)
            }
            #expect(deaths > 3)
        }
    }
}
