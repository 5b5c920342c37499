import BSON
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests that bad input gives the right exit code and one line with the problem, its position and the remedy.
@Suite struct CommandLineBadInputTests {
    /// A connection string with a port on which no server listens.
    private static let nowhere = "mongodb://127.0.0.1:1/"

    /// Runs the program, expects that it ends with an error of one line, and returns that line.
    ///
    /// If the error is in a file, the program may also print the line of the file.
    private func refusal(
        _ arguments: [String], status: Int32, environment: [Environment.Key: String?] = [:]
    ) async throws -> String {
        let run = try await Program.run(arguments, environment: environment)
        #expect(run.exitCode == status, "\(run.errors)")
        #expect(run.output == "")
        #expect(run.errorLines.dropFirst().allSatisfy { $0.contains(" | ") }, "\(run.errors)")
        #expect(run.errors.hasPrefix("shipshape: "))
        return run.errors.prefix { $0 != "\n" } + "\n"
    }

    private func schemaRefusal(_ text: String) async throws -> String {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let file = try folder.write(text, to: "person.json")
        let line = try await refusal(
            ["check", file, "--collection", "app.person", "--uri", Self.nowhere], status: 65)
        return line.replacing(folder.path.string, with: "")
    }

    @Test func aSchemaOfAnUnknownType() async throws {
        let text = "{\n  \"bsonType\": \"object\",\n  \"properties\": { \"_id\": { \"bsonType\": \"strng\" } }\n}"
        #expect(
            try await schemaRefusal(text)
                == "shipshape: /person.json:3:40: unknown bsonType \"strng\" (did you mean \"string\"?)\n")
    }

    /// The program reads at most `size` MiB of a file, and then reports an error.
    ///
    /// The test reads `/dev/zero`, because it never ends, and because a device reports no size that the program could
    /// check first.
    @Test(arguments: [
        (["check", "/dev/zero", "--collection", "app.person", "--uri", nowhere], 65, 16),
        (["backfill", "/dev/zero", "--dry-run", "--uri", nowhere], 65, 1),
        (["diff", "s.json", "s.json", "--collection", "app.person", "--config", "/dev/zero"], 78, 16),
        (
            ["check", "s.json", "--collection", "app.person", "SHIPSHAPE_EXCEPTIONS=/dev/zero", "--source", "s.json"],
            65, 16
        ),
    ])
    func aFileThatIsTooLarge(_ arguments: [String], _ status: Int32, _ size: Int) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "s.json")
        try folder.write("job: a\ncollection: app.person\nsteps: [copy: {from: d, to: e}]\n", to: "j.yml")
        let run = try await Program.run(arguments, in: folder.path)
        #expect(run.exitCode == status)
        #expect(
            run.errors
                == "shipshape: /dev/zero: the file has more than \(size) MiB, the limit for such a file "
                + "(check that it is the file you mean, or divide it)\n")
    }

    /// The file of `--ids` may have any size, but each of its lines is limited to 16 MiB.
    @Test func aListWithoutAnyLine() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write("job: a\ncollection: app.person\nsteps: [copy: {from: d, to: e}]\n", to: "j.yml")
        let run = try await Program.run(
            ["backfill", "j.yml", "--yes", "--ids", "/dev/zero", "--uri", Self.nowhere], in: folder.path)
        #expect(run.exitCode == 65)
        #expect(
            run.errors
                == "shipshape: /dev/zero:1:1: the line has more than 16 MiB (check that it is the file you mean)\n")
    }

    @Test func aSchemaThatIsNoJSON() async throws {
        #expect(
            try await schemaRefusal("{\n  \"bsonType\": ")
                == "shipshape: /person.json:2:15: the file ends where a value is expected\n")
    }

    @Test(arguments: [
        ["check"], ["check", "v2"], ["check", "v2", "--collection"],
        ["check", "v2", "--map"],
        ["check", "v2", "--where"], ["ledger", "show"],
    ])
    func aConnectionStringInTheWrongPlace(_ arguments: [String]) async throws {
        let uri = "mongodb://ada:hidden@word@localhost:1/"
        let run = try await Program.run(arguments + [uri], environment: ["SHIPSHAPE_URI": .some(Self.nowhere)])
        #expect([64, 65].contains(run.exitCode))
        #expect(run.errors.contains("***@localhost"), "\(run.errors)")
        #expect(!run.errors.contains("hidden") && !run.errors.contains("word@"))
    }

    @Test(arguments: [
        ["--report", "a.json", "--failures", "a.json"], ["--report", "a.json", "--report", "a.json"],
        ["--failures", "-"],
    ])
    func outputsThatWouldReplaceOneAnother(_ arguments: [String]) async throws {
        let run = try await Program.run(["check", "v2"] + arguments)
        #expect(run.exitCode == 64)
    }

    @Test func aMissingSchema() async throws {
        #expect(
            try await refusal(["check", "/no/such/folder", "--uri", Self.nowhere], status: 65)
                == "shipshape: /no/such/folder: there is no such file or folder (check the path)\n")
    }

    @Test func anEmptyFolder() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let line = try await refusal(["check", folder.path.string, "--uri", Self.nowhere], status: 65)
        #expect(line.contains("\(folder.path): the folder holds no schema (give an app folder"))
    }

    @Test func aCollectionThatTheSchemasDoNotCover() async throws {
        let line = try await refusal(
            ["check", "\(DemoApp.folder)/v1", "--collection", "app.Persn", "--uri", Self.nowhere], status: 65)
        #expect(line.contains("there is no schema of app.Persn here (did you mean \"app.Person\"?)"))
    }

    @Test(arguments: [
        ("http://localhost", "it must begin with mongodb:// or mongodb+srv://"),
        ("mongodb://", "Invalid host string in URI"),
        ("mongodb://ada:p@ss@localhost/", "percent-encode the user's name and the password"),
    ])
    func aMalformedConnectionString(_ uri: String, _ reason: String) async throws {
        let line = try await refusal(
            ["check", "\(DemoApp.folder)/v1"], status: 78, environment: ["SHIPSHAPE_URI": uri])
        #expect(line.contains("the connection string is not valid: \(reason)"))
        #expect(!line.contains("p@ss"))
    }

    @Test func anUnreachableDeploymentInTime() async throws {
        let line = try await refusal(
            ["check", "\(DemoApp.folder)/v1", "--uri", "\(Self.nowhere)?serverSelectionTimeoutMS=2000"], status: 69)
        #expect(line.contains("connection refused"))
        #expect(line.contains("127.0.0.1:1"))
        #expect(line.contains("(check the address, and that the deployment runs)"))
    }
}

extension CommandLineBadInputTests {
    @Test(arguments: [
        ("- convert: {field: age, to: strng}", 4, "strng"),
        ("- default: {value: 1}", 4, "field"),
        ("- convert: {field: age}", 4, "to"),
        ("- renmae: {from: a, to: b}", 4, "renmae"),
    ])
    func aStepThatCannotBe(_ step: String, _ line: Int, _ name: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let job = try folder.write("job: bad\ncollection: app.person\nsteps:\n  \(step)\n", to: "job.yml")
        let text = try await refusal(["backfill", job, "--uri", Self.nowhere], status: 65)
        #expect(text.contains("job.yml:\(line):"))
        #expect(text.contains("\"\(name)\""), "\(text)")
    }

    @Test func aJobOnACollectionThatIsNotThere() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 1)
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let job = try folder.write(
                "job: bad\ncollection: \(database.name).persn\nsteps:\n  - default: {field: a, value: 1}\n",
                to: "job.yml")
            let text = try await refusal(["backfill", job, "--uri", mongod.uri, "--yes"], status: 65)
            #expect(text == "shipshape: there is no collection \(database.name).persn (did you mean \"person\"?)\n")
        }
    }

    @Test func aMissingJobAndAJobThatIsNoYAML() async throws {
        #expect(
            try await refusal(["backfill", "/no/such.yml", "--uri", Self.nowhere], status: 65)
                == "shipshape: /no/such.yml: there is no such file or folder (check the path)\n")
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let job = try folder.write("job: [\n", to: "job.yml")
        #expect(
            try await refusal(["backfill", job, "--uri", Self.nowhere], status: 65).contains("job.yml:2:1: not YAML"))
    }
}

extension CommandLineBadInputTests {
    @Test func aRefusedLogin() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = "mongodb://nobody:wrong-password@\(mongod.host)/?replicaSet=shipshape"
        let line = try await refusal(["check", "\(DemoApp.folder)/v1", "--uri", uri], status: 77)
        #expect(line.contains("Authentication failed"))
        #expect(line.contains("(check the user, SHIPSHAPE_PASSWORD, and authSource in the connection string)"))
        #expect(!line.contains("wrong-password"))
    }

    @Test func aMissingPrivilege() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser("cli-other", roles: [["role": "read", "db": "other"]])
        let line = try await refusal(
            ["check", "\(DemoApp.folder)/v1", "--uri", uri, "SHIPSHAPE_LEDGER=none"], status: 77)
        #expect(line.contains("missing find on app."), "\(line)")
        #expect(!line.contains("cli-other-password"))
    }

    @Test func aLedgerThatMayNotBeRead() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser("cli-app", roles: [["role": "read", "db": "app"]])
        let line = try await refusal(["check", "\(DemoApp.folder)/v1", "--uri", uri], status: 77)
        #expect(
            line
                == "shipshape: the user \"cli-app\" lacks privileges for check, and nothing was done: missing find on "
                + "__realm_sync.unsynced_documents (shipshape grants check prints the role; if there is no ledger, set "
                + "SHIPSHAPE_LEDGER=none)\n")
    }
}
