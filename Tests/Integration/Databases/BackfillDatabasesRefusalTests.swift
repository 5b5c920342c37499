import BSON
import TestSupport
import Testing

/// Tests when `backfill --databases` refuses only one database, and when it refuses all of them.
@Suite struct BackfillDatabasesRefusalTests {
    @Test func aDatabaseWithoutTheCollectionIsPassedOver() async throws {
        try await DatabasesCase.withPeople { databases in
            try await databases.others[1].run(["drop": "people"])
            try await databases.others[1].fill("other", [["_id": 1]])
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try databases.states(run) == ["done", "no_collection", "done"])
            #expect(try await databases.test.checkpoint(databases.job(1)) == nil)
            for index in [0, 2] { try await databases.others[index].run(["drop": "people"]) }
            for index in [0, 2] { try await databases.others[index].fill("other", [["_id": 1]]) }
            let none = try await databases.backfill()
            #expect(none.exitCode == 65)
            #expect(none.errors.contains("none of the 3 databases matching"), "\(none.errors)")
        }
    }

    @Test func aPatternThatMatchesNothingIsRefused() async throws {
        try await DatabasesCase.withPeople(in: 1) { databases in
            let run = try await databases.test.backfill("job", "--databases", "no-such-*")
            #expect(run.exitCode == 65)
            #expect(
                run.errors.contains("no database that the user may see matches no-such-*: check --databases"),
                "\(run.errors)")
            #expect(try await !databases.test.hasState())
        }
    }

    @Test func anErrorOfOneHoldsUpNoOtherAndIsTheExitCode() async throws {
        try await DatabasesCase.withPeople { databases in
            let first = databases.others[0]
            try await first.run(["drop": "people"])
            try await first.fill("others", [["_id": 1]])
            try await first.run(["create": "people", "viewOn": "others", "pipeline": []])
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 65, "\(run.errors)")
            let rows = try databases.rows(run)
            #expect(rows.map { $0["state"]?.text } == ["failed", "done", "done"])
            #expect(rows.map { $0["exit_code"] } == [.number(65), .number(0), .number(0)])
            #expect(rows[0]["error"]?.text?.contains("is a view") == true)
            let text = try await databases.backfill()
            #expect(text.output.contains(".in-\(first.name): \(first.name).people is a view"), "\(text.output)")
        }
    }

    @Test func onePausedWaitsWhileTheOthersRun() async throws {
        try await DatabasesCase.withPeople { databases in
            let stopped = try await databases.backfill(fault: "after-checkpoint:1")
            #expect(stopped.wasKilled)
            #expect(try await databases.test.steer("pause", databases.job(0)).exitCode == 0)
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(try databases.states(run) == ["failed", "done", "done"])
            #expect(try await databases.test.steer("resume", databases.job(0)).exitCode == 0)
            let resumed = try await databases.backfill("-o", "json")
            #expect(resumed.exitCode == 0, "\(resumed.errors)")
            #expect(try databases.states(resumed) == ["done", "nothing_to_do", "nothing_to_do"])
        }
    }

    @Test(arguments: [["--part", "1/2"], ["--ids", "ids.jsonl"], ["--failures", "failed.jsonl"]])
    func flagsForOneDatabaseAreRefused(_ flags: [String]) async throws {
        try await DatabasesCase.withPeople(in: 1) { databases in
            let run = try await databases.test.backfill(flags: ["--databases", databases.pattern] + flags)
            #expect(run.exitCode == 64, "\(run.errors)")
            #expect(run.errors.contains("--databases excludes \(flags[0])"), "\(run.errors)")
        }
    }

    @Test func aJobOfSeveralDatabasesIsRefused() async throws {
        try await DatabasesCase.withPeople(in: 1) { databases in
            try databases.test.job(steps: ["extract: {field: home, to: elsewhere.homes, generate: uuid}"])
            let run = try await databases.backfill()
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("job.yml:4:5: the step names elsewhere.homes"), "\(run.errors)")
            #expect(try await !databases.test.hasState())
        }
    }

    @Test func aDatabaseThatNoJobCanBeCalledAfterIsRefused() async throws {
        try await DatabasesCase.withPeople(in: 1) { databases in
            let name = String(repeating: "n", count: 95)
            try databases.test.job(name, steps: ["convert: {field: age, to: string}"])
            let run = try await databases.test.backfill(name, "--databases", databases.pattern)
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("at most 100 letters"), "\(run.errors)")
            #expect(run.errors.contains("give the job a shorter name"), "\(run.errors)")
            #expect(try await !databases.test.hasState())
        }
    }

    @Test func offATerminalItNeedsAYesForAllOfThem() async throws {
        try await DatabasesCase.withPeople(in: 2) { databases in
            let run = try await databases.backfill(yes: false)
            #expect(run.exitCode == 64)
            #expect(run.errors.contains(databases.others.map(\.name).joined(separator: ", ")), "\(run.errors)")
            #expect(run.errors.contains("backfill needs --yes"), "\(run.errors)")
            #expect(try await databases.people() == [DatabasesCase.people, DatabasesCase.people])
        }
    }

    /// The run reports privileges that are missing in the last database before it writes to the first one.
    @Test func privilegesAreCheckedInAllOfThemFirst() async throws {
        let mongod = try await Mongod.withAuthentication
        try await mongod.withBackfill { test in
            try await mongod.withDatabase("tenant") { one in
                try await mongod.withDatabase("tenant") { other in
                    let databases = [one, other].sorted { $0.name < $1.name }
                    for database in databases { try await database.fill("people", DatabasesCase.people) }
                    try test.job(steps: ["convert: {field: age, to: string}"])
                    let uri = try await mongod.addUser(
                        "writer-\(test.database.name)",
                        roles: [
                            ["role": "readWrite", "db": .string(databases[0].name)],
                            ["role": "read", "db": .string(databases[1].name)],
                            ["role": "readWrite", "db": .string(test.state.name)],
                        ])
                    let flags = ["--databases", "tenant_*", "SHIPSHAPE_LEDGER=none"]
                    let run = try await test.backfill(flags: flags, uri: uri)
                    #expect(run.exitCode == 77, "\(run.errors)")
                    #expect(run.errors.contains("missing update on \(databases[1].name).people "), "\(run.errors)")
                    for database in databases {
                        #expect(try await database.documents("people") == DatabasesCase.people)
                    }
                    #expect(try await !test.hasState())
                }
            }
        }
    }
}
