import BSON
import TestSupport
import Testing

/// What a user may not do is named, and holds up nobody else.
@Suite struct PrivilegeTests {
    /// A job on people, for a user who may read them, and write the state.
    private func withReader(_ body: (BackfillCase, _ reader: String) async throws -> Void) async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("people", count: 50)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let reader = try await test.mongod.addUser(
                "reader-\(test.database.name)",
                roles: [
                    ["role": "read", "db": .string(test.database.name)],
                    ["role": "readWrite", "db": .string(test.state.name)],
                ])
            try await body(test, reader)
        }
    }

    @Test func aRunThatMayNotWriteGivesTheLeaseBack() async throws {
        try await withReader { test, reader in
            let refused = try await test.backfill("job", "--ledger", "none", uri: reader)
            #expect(refused.exitCode == 77, "\(refused.errors)")
            let status = try await test.status()
            #expect(status["state"] == "stopped")
            let held = try await test.state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]])
            #expect(held == 0)
            let run = try await test.backfill("job", "--ledger", "none")
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    @Test func theMissingPrivilegeIsNamedWithItsCollection() async throws {
        try await withReader { test, reader in
            let refused = try await test.backfill("job", "--ledger", "none", uri: reader)
            #expect(
                refused.errors.contains("(grant the user update on \(test.database.name).people)"), "\(refused.errors)")
            let schema = try CommandLineFolder()
            defer { schema.remove() }
            let file = try schema.write(CommandLineFolder.person, to: "person.json")
            let other = try await test.mongod.addUser(
                "other-\(test.database.name)",
                privileges: [
                    ["resource": ["db": .string(test.database.name), "collection": ""], "actions": ["collStats"]]
                ])
            let run = try await Program.run(
                ["check", file, "--collection", "\(test.database.name).people", "--uri", other, "--ledger", "none"])
            #expect(run.exitCode == 77, "\(run.errors)")
            #expect(
                run.errors.contains("(grant the user find on \(test.database.name).people)")
                    || run.errors.contains("(grant the user listCollections on the database \(test.database.name))"),
                "\(run.errors)")
        }
    }
}
