import BSON
import SystemPackage
import TestSupport
import Testing

/// A command writes to a protected environment only if the user names that environment.
@Suite struct ProtectedEnvironmentTests {
    private func withProtected(_ body: (BackfillCase, _ run: [String]) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try test.write(
                "shipshape.yml",
                """
                state-database: \(test.state.name)
                environments:
                  production: {uri: "\(test.uri)", protected: true}
                  staging: {uri: "\(test.uri(appName: "staging"))"}
                """)
            try await body(test, ["backfill", "job.yml", "--yes", "SHIPSHAPE_LEDGER=none"])
        }
    }

    private func written(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("people", ["email": ["$exists": true]])
    }

    @Test func offATerminalItIsRefusedWithoutItsName() async throws {
        try await withProtected { test, run in
            let refused = try await Program.run(run + ["--env", "production"], in: test.folder)
            #expect(refused.exitCode == 64)
            #expect(
                refused.errors.contains(
                    "nothing was written: without a terminal, backfill needs --yes-protected production"),
                "\(refused.errors)")
            let other = try await Program.run(
                run + ["--env", "production", "--yes-protected", "staging"], in: test.folder)
            #expect(other.exitCode == 64)
            // A connection string of the same deployment, in place of the environment, does not bypass the protection.
            let direct = try await Program.run(run + ["--uri", test.uri], in: test.folder)
            #expect(direct.exitCode == 64, "\(direct.errors)")
            #expect(try await written(test) == 0)
            #expect(try await !test.hasState())
        }
    }

    @Test func itsNameLetsTheCommandWrite() async throws {
        try await withProtected { test, run in
            let named = try await Program.run(
                run + ["--env", "production", "--yes-protected", "production"], in: test.folder)
            #expect(named.exitCode == 0, "\(named.errors)")
            #expect(try await written(test) == 10)
        }
    }

    @Test func readingAndOtherEnvironmentsAskNothing() async throws {
        try await withProtected { test, run in
            let dry = try await Program.run(
                ["backfill", "job.yml", "--dry-run", "SHIPSHAPE_LEDGER=none", "--env", "production"], in: test.folder)
            #expect(dry.exitCode == 0, "\(dry.errors)")
            #expect(try await Program.run(["status", "--env", "production"], in: test.folder).exitCode == 0)
            let staging = try await Program.run(run + ["--env", "staging"], in: test.folder)
            #expect(staging.exitCode == 0, "\(staging.errors)")
        }
    }

    @Test func atATerminalTheNameIsTyped() async throws {
        try await withProtected { test, _ in
            let command = [
                "backfill", test.path(), "--yes", "SHIPSHAPE_LEDGER=none", "--env", "production", "--config",
                test.folder.appending("shipshape.yml").string,
            ]
            let wrong = try await Program.atTerminal(command, askedFor: "Type its name", types: #"yes\n"#)
            #expect(wrong.exitCode == 75, "\(wrong.output)")
            #expect(try await written(test) == 0)
            let right = try await Program.atTerminal(command, askedFor: "Type its name", types: #"production\n"#)
            #expect(right.exitCode == 0, "\(right.output)")
            #expect(try await written(test) == 10)
        }
    }
}
