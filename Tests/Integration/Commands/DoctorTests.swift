import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that `doctor` says what is wrong with an installation, how to fix it, and ends with the right exit code.
@Suite struct DoctorTests {
    /// Runs `doctor` in a folder, and returns the run and the checks in its JSON.
    private func doctor(
        _ flags: String..., in folder: CommandLineFolder? = nil
    ) async throws -> (run: ProgramRun, checks: [BSONDocument]) {
        let own = try CommandLineFolder()
        defer { own.remove() }
        let run = try await Program.run(["doctor", "-o", "json"] + flags, in: (folder ?? own).path)
        let checks = try BSONDocument(extendedJSON: run.output)["checks"]?.document?.values ?? []
        return (run, checks.compactMap(\.document))
    }

    private func level(_ name: String, of checks: [BSONDocument]) -> String? {
        checks.first { $0["name"]?.text == name }?["level"]?.text
    }

    @Test func aConnectionStringIsEnough() async throws {
        let mongod = try await Mongod.shared
        let (run, checks) = try await doctor("--uri", mongod.uri, "SHIPSHAPE_LEDGER=none")
        #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
        for name in ["connection", "server", "clock", "oplog"] {
            #expect(["good", "notice"].contains(level(name, of: checks)), "\(name): \(checks)")
        }
        #expect(level("topology", of: checks) == "good")
        #expect(level("configuration", of: checks) == "notice")
        #expect(level("all commands", of: checks) == "good", "there is no login")
    }

    @Test func aFailedConnectionIsOneError() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(
            ["doctor", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500"], in: folder.path)
        #expect(run.exitCode == 69)
        #expect(run.errors == "")
        #expect(run.output.hasPrefix("1 error with mongodb://127.0.0.1:1"), "\(run.output)")
        let failures = run.output.split(separator: "\n").filter { $0.contains("✗") || $0.contains("FAIL") }
        #expect(failures.count == 1, "\(run.output)")
        #expect(run.output.contains("connection refused"))
        #expect(!run.output.contains("privileges"))
    }

    @Test func noDeploymentIsAnErrorOfUsage() async throws {
        let (run, checks) = try await doctor()
        #expect(run.exitCode == 64)
        #expect(level("connection", of: checks) == "error")
    }

    @Test func aBrokenFileIsNamedWithItsPlace() async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "schemas/app.person.json")
        try folder.write("job: a\ncollection: app.person\nsteps: [renmae: {from: a, to: b}]\n", to: "jobs/a.yml")
        try folder.write(
            "- {collection: app.person, path: nmae, rule: required-missing, reason: r, owner: o}\n",
            to: "shipshape.exceptions.yml")
        let (run, checks) = try await doctor("--uri", mongod.uri, "SHIPSHAPE_LEDGER=none", in: folder)
        #expect(run.exitCode == 65)
        #expect(level("schema", of: checks) == "good", "the only folder with schemas is found: \(checks)")
        let messages = checks.filter { $0["level"] == "error" }.compactMap { $0["message"]?.text }
        #expect(messages.count == 2, "\(messages)")
        #expect(messages.contains { $0.contains("jobs/a.yml:3:9:") && $0.contains("\"rename\"") }, "\(messages)")
        #expect(messages.contains { $0.contains("shipshape.exceptions.yml:1:") && $0.contains("\"name\"") })
    }

    @Test func aUserWhoMayOnlyCheckIsFine() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser(
            "doctor-reader", roles: [["role": "read", "db": "doctor_app"], ["role": "read", "db": "__realm_sync"]])
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "schemas/doctor_app.person.json")
        let (run, checks) = try await doctor("schemas", "--uri", uri, "SHIPSHAPE_LEDGER=none", in: folder)
        #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
        let lacking = checks.filter { $0["name"] == "lacking" }
        #expect(lacking.contains { $0["message"]?.text?.hasPrefix("backfill") == true }, "\(checks)")
        #expect(
            lacking.allSatisfy { $0["level"] == "warning" && $0["remedy"]?.text?.contains("shipshape grants") == true })
        let strict = try await Program.run(
            ["doctor", "schemas", "--strict", "--uri", uri, "SHIPSHAPE_LEDGER=none"], in: folder.path)
        #expect(strict.exitCode == 1)
    }

    @Test func aUserWhoMayNotCheckIsAnError() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser("doctor-stranger", roles: [["role": "read", "db": "other"]])
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "schemas/doctor_app.person.json")
        let (run, checks) = try await doctor("schemas", "--uri", uri, "SHIPSHAPE_LEDGER=none", in: folder)
        #expect(run.exitCode == 77, "\(run.output)")
        let lacking = checks.first { $0["name"] == "lacking" && $0["level"] == "error" }
        #expect(lacking?["message"]?.text?.contains("missing find on doctor_app.person") == true, "\(checks)")
        #expect(lacking?["remedy"]?.text == "shipshape grants check prints the role")
    }

    @Test func aRefusedLoginIsOneError() async throws {
        let mongod = try await Mongod.withAuthentication
        let (run, checks) = try await doctor(
            "--uri", "mongodb://nobody:wrong-password@\(mongod.host)/?replicaSet=shipshape")
        #expect(run.exitCode == 77)
        #expect(checks.count { $0["level"] == "error" } == 1, "\(checks)")
        #expect(!(run.output + run.errors).contains("wrong-password"))
    }
}
