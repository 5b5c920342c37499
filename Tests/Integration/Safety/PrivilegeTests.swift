import BSON
import Foundation
import TestSupport
import Testing

/// If a user lacks a privilege, the error names it, and the run releases its lease, so that other runners need not
/// wait.
@Suite struct PrivilegeTests {
    /// Runs a test with a job over `people`, and a user who may write to the test's database and to the state database.
    private func withWriter(_ body: (BackfillCase, _ name: String, _ uri: String) async throws -> Void) async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("people", count: 50)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let name = "writer-\(test.database.name)"
            let uri = try await test.mongod.addUser(
                name,
                roles: [
                    ["role": "readWrite", "db": .string(test.database.name)],
                    ["role": "readWrite", "db": .string(test.state.name)],
                ])
            try await body(test, name, uri)
        }
    }

    /// Replaces the user's right to write to a database by the right to read it; without a database, to the documents.
    private func revoke(_ name: String, of test: BackfillCase, on changed: TestDatabase? = nil) async throws {
        let (own, reading) = ("readWrite", "read")
        let database = BSONValue.string((changed ?? test.database).name)
        try await test.mongod.admin([
            "grantRolesToUser": .string(name), "roles": [["role": .string(reading), "db": database]],
        ])
        try await test.mongod.admin([
            "revokeRolesFromUser": .string(name), "roles": [["role": .string(own), "db": database]],
        ])
    }

    @Test func aRunThatMayWriteNoMoreGivesTheLeaseBackAndNamesWhatIsMissing() async throws {
        try await withWriter { test, name, uri in
            let refused = try await test.backfill(
                "job", flags: ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=60s"], uri: uri,
                fault: "before-write:1:stop"
            ) { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                try await revoke(name, of: test)
                program.send(SIGCONT)
            }
            #expect(refused.exitCode == 77, "\(refused.errors)")
            #expect(
                refused.errors.contains("(grant the user update on \(test.database.name).people)"), "\(refused.errors)")
            let status = try await test.status()
            #expect(status["state"] == "stopped")
            let held = try await test.state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]])
            #expect(held == 0)
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none")
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    /// The user loses the right to write to the state database after a chunk is planned, and before it is written.
    @Test func withoutTheRightOnTheStateNoChangeIsUnknownToUndo() async throws {
        try await withWriter { test, name, uri in
            let original = try await test.database.documents("people")
            let refused = try await test.backfill(
                "job", flags: ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=6s"], uri: uri,
                fault: "before-write:1:stop"
            ) { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                try await revoke(name, of: test, on: test.state)
                program.send(SIGCONT)
            }
            #expect(refused.exitCode == 77, "\(refused.status): \(refused.errors)")
            #expect(refused.errors.contains(" on \(test.state.name)."), "\(refused.errors)")
            let waiting = ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=60s", "SHIPSHAPE_LEASE_WAIT=60s"]
            #expect(try await test.backfill(flags: waiting).exitCode == 0)
            let undone = try await test.undo(flags: waiting + ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == 50)
            #expect(try await test.database.documents("people") == original)
        }
    }

    @Test func theMissingPrivilegeIsNamedWithItsCollection() async throws {
        try await withWriter { test, name, uri in
            try await revoke(name, of: test)
            let refused = try await test.backfill("job", "SHIPSHAPE_LEDGER=none", uri: uri)
            #expect(refused.exitCode == 77)
            #expect(refused.errors.contains("missing update on \(test.database.name).people "), "\(refused.errors)")
            #expect(try await !test.hasState())
            let schema = try CommandLineFolder()
            defer { schema.remove() }
            let file = try schema.write(CommandLineFolder.person, to: "person.json")
            let other = try await test.mongod.addUser(
                "other-\(test.database.name)",
                privileges: [
                    ["resource": ["db": .string(test.database.name), "collection": ""], "actions": ["collStats"]]
                ])
            let run = try await Program.run(
                [
                    "check", file, "--collection", "\(test.database.name).people", "--uri", other,
                    "SHIPSHAPE_LEDGER=none",
                ])
            #expect(run.exitCode == 77, "\(run.errors)")
            #expect(run.errors.contains("missing find on \(test.database.name).people "), "\(run.errors)")
        }
    }
}
