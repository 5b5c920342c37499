import BSON
import Foundation
import Mongo
import SystemPackage
import TestSupport
import Testing

/// The fixture of a test of roles: two databases on a server that requires a login, and files that commands need.
struct RoleCase: Sendable {
    let mongod: Mongod
    let database: TestDatabase
    let state: TestDatabase
    let folder: CommandLineFolder

    /// A command whose role is tested, and the commands that must run before it.
    struct Command: Sendable, CustomTestStringConvertible {
        /// The arguments with which `grants` prints the command's role.
        let grants: [String]
        /// The arguments of the command; `FILE` is replaced by the path of `subject`.
        let arguments: [String]
        /// The commands that the administrator runs before this one.
        var before: [[String]] = []
        /// Whether the collection is moved after the commands in ``before``, so that it gets another UUID.
        var isMoved = false
        /// The name of the file that the command works on.
        let subject: String
        var exitCodes: Set<Int32> = [0, 1]

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let run = ["backfill", "FILE", "--yes", "SHIPSHAPE_LEDGER=none"]
    private static let copy = ["partner", "init", "FILE", "--yes", "SHIPSHAPE_LEDGER=none"]
    private static let mirror = ["partner", "mirror", "FILE", "--once"]
    private static let verify = ["partner", "verify", "FILE"]
    private static let cutover = ["partner", "cutover", "FILE", "--yes", "--quiet-for", "1ms"]

    /// The commands whose roles are tested.
    static let commands: [Command] = [
        Command(grants: ["check", "FILE"], arguments: ["check", "FILE"], subject: "person.json"),
        Command(
            grants: ["check", "FILE", "SHIPSHAPE_LEDGER=none"],
            arguments: [
                "check", "FILE", "--active", "FILE", "SHIPSHAPE_LEDGER=none", "--count-groups",
                "SHIPSHAPE_PREFILTER=true",
            ],
            subject: "person.json"),
        Command(
            grants: ["check --part", "FILE", "SHIPSHAPE_LEDGER=none"],
            arguments: ["check", "FILE", "--part", "1/2", "SHIPSHAPE_LEDGER=none"], subject: "person.json"),
        Command(
            grants: ["check", "live", "SHIPSHAPE_LEDGER=none"], arguments: ["check", "live", "SHIPSHAPE_LEDGER=none"],
            subject: "person.json"),
        Command(
            grants: ["check", "FILE", "SHIPSHAPE_LEDGER=none", "--history", "HISTORY"],
            arguments: ["check", "FILE", "SHIPSHAPE_LEDGER=none", "--history", "HISTORY"], subject: "person.json"),
        Command(
            grants: ["check", "FILE", "SHIPSHAPE_LEDGER=none", "--failures", "FAILURES"],
            arguments: ["check", "FILE", "SHIPSHAPE_LEDGER=none", "--failures", "FAILURES"], subject: "person.json"),
        Command(
            grants: ["history", "HISTORY"], arguments: ["history", "HISTORY"],
            before: [["check", "FILE", "SHIPSHAPE_LEDGER=none", "--history", "HISTORY"]], subject: "person.json"),
        Command(grants: ["lint", "FILE"], arguments: ["lint", "FILE"], subject: "person.json"),
        Command(grants: ["lint", "live"], arguments: ["lint", "live"], subject: "person.json"),
        Command(grants: ["diff", "FILE"], arguments: ["diff", "FILE", "NEXT"], subject: "person.json"),
        Command(grants: ["plan", "FILE"], arguments: ["plan", "FILE", "NEXT"], subject: "person.json"),
        Command(grants: ["plan", "FILE"], arguments: ["plan", "FILE"], subject: "person.json"),
        Command(
            grants: ["enforce", "FILE"], arguments: ["enforce", "FILE", "--yes"], subject: "validator.json",
            exitCodes: [0]),
        Command(
            grants: ["enforce", "FILE", "--dry-run"], arguments: ["enforce", "FILE", "--dry-run"],
            subject: "validator.json"),
        Command(grants: ["schema", "infer"], arguments: ["schema", "infer"], subject: "person.json"),
        Command(grants: ["ledger", "show"], arguments: ["ledger", "show"], subject: "person.json"),
        Command(grants: ["ledger", "show", "FILE"], arguments: ["ledger", "show", "FILE"], subject: "person.json"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "job.yml"),
        Command(
            grants: ["backfill", "FILE", "--dry-run"], arguments: ["backfill", "FILE", "--dry-run"],
            subject: "job.yml"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "once.yml"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "extract.yml"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "embed.yml"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "lookup.yml"),
        Command(grants: ["undo", "FILE"], arguments: ["undo", "FILE", "--yes"], before: [run], subject: "job.yml"),
        Command(
            grants: ["undo", "FILE", "--dry-run"], arguments: ["undo", "FILE", "--dry-run"], before: [run],
            subject: "job.yml"),
        Command(
            grants: ["undo", "FILE"], arguments: ["undo", "FILE", "--yes"], before: [run], subject: "extract.yml"),
        Command(grants: ["backfill", "FILE"], arguments: ["backfill", "FILE", "--yes"], subject: "jobs"),
        Command(
            grants: ["backfill", "FILE", "--dry-run"], arguments: ["backfill", "FILE", "--dry-run"], subject: "jobs"),
        Command(grants: ["status"], arguments: ["status"], before: [run], subject: "job.yml"),
        Command(grants: ["job", "pause"], arguments: ["job", "pause", "FILE"], before: [run], subject: "job.yml"),
        Command(
            grants: ["job", "resume"], arguments: ["job", "resume", "FILE"], before: [run, ["job", "pause", "FILE"]],
            subject: "job.yml"),
        Command(
            grants: ["job", "tune"], arguments: ["job", "tune", "FILE", "nice=0.5"], before: [run], subject: "job.yml"),
        Command(
            grants: ["job", "deployed"], arguments: ["job", "deployed", "FILE", "--yes"], before: [run],
            subject: "next.yml"),
        Command(
            grants: ["job", "rebind", "FILE"], arguments: ["job", "rebind", "FILE", "--yes"], before: [run],
            isMoved: true,
            subject: "job.yml", exitCodes: [0]),
        Command(
            grants: ["job", "cleanup", "FILE"], arguments: ["job", "cleanup", "FILE", "--yes"], before: [run],
            subject: "once.yml"),
        Command(
            grants: ["ledger", "follow", "FILE"], arguments: ["ledger", "follow", "FILE", "--once"],
            subject: "person.json"),
        Command(
            grants: ["partner", "init", "FILE"], arguments: ["partner", "init", "FILE", "--yes"], subject: "tasks.yml"),
        Command(
            grants: ["partner", "init", "FILE", "--dry-run"], arguments: ["partner", "init", "FILE", "--dry-run"],
            subject: "tasks.yml"),
        Command(grants: ["partner", "mirror", "FILE"], arguments: mirror, before: [copy], subject: "tasks.yml"),
        Command(grants: ["partner", "verify", "FILE"], arguments: verify, before: [copy], subject: "tasks.yml"),
        Command(grants: ["status"], arguments: ["status", "FILE"], before: [copy], subject: "tasks.yml"),
        Command(
            grants: ["partner", "cutover", "FILE"], arguments: cutover, before: [copy, mirror, verify],
            subject: "tasks.yml", exitCodes: [0]),
        Command(
            grants: ["partner", "drop", "FILE"], arguments: ["partner", "drop", "FILE", "--yes"],
            before: [copy, mirror, verify, cutover], subject: "tasks.yml", exitCodes: [0]),
    ]

    private var collection: String { "\(database.name).person" }

    /// Writes the files that the commands need, and inserts the documents.
    func prepare() async throws {
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(#"{"$jsonSchema": \#(CommandLineFolder.person)}"#, to: "validator.json")
        try folder.write(
            CommandLineFolder.person.replacing(
                #""properties": {"#, with: #""properties": { "email": { "bsonType": "string" },"#),
            to: "next.json")
        func job(_ name: String, _ steps: String, _ more: String = "") throws -> String {
            let text = "job: \(name)\ncollection: \(collection)\n\(more)steps:\n  - \(steps)\n"
            return try folder.write(text, to: "\(name).yml")
        }
        _ = try job("job", #"default: {field: email, value: ""}"#)
        _ = try job("next", #"default: {field: email, value: ""}"#, "schema: {next: next.json}\n")
        _ = try job("once", "expression: {field: age, value: {$add: [$age, 1]}, once: _done}")
        _ = try job("extract", "extract: {field: dog, to: \(database.name).Dog, idFrom: _id}")
        _ = try job("embed", "embed: {field: cat, from: \(database.name).Cat}")
        _ = try job("lookup", "map: {field: cat, lookup: \(database.name).Map, key: old, value: new}")
        try folder.write(
            "job: migrated\ncollection: \(collection)\nsteps:\n  - default: {field: email, value: \"\"}\n",
            to: "jobs/migrated.yml")
        try folder.write(
            "partner: tasks\nsource: \(database.name).Task\ntarget: "
                + "\(database.name).TaskV2\n\(PartnerCase.documented)\n",
            to: "tasks.yml")
        try await load()
    }

    /// Drops both databases, and inserts the documents again.
    func load() async throws {
        try await database.run(["dropDatabase": 1])
        try await state.run(["dropDatabase": 1])
        try await database.fill("person", count: 20) { number in
            [
                "_id": .int(Int32(number)), "name": .string("n\(number)"), "age": .int(Int32(number)),
                "dog": ["_id": .int(Int32(number))], "cat": .int(Int32(number)),
            ]
        }
        try await database.run([
            "collMod": "person", "validator": ["$jsonSchema": ["bsonType": "object", "required": ["name"]]],
        ])
        try await database.fill("Cat", count: 20) { ["_id": .int(Int32($0))] }
        try await database.fill("Map", count: 20) { ["_id": .int(Int32($0)), "old": .int(Int32($0)), "new": "n"] }
        try await database.fill("Task", count: 12, PartnerCase.task)
        try await database.run([
            "createIndexes": "Task", "indexes": [["key": ["title": 1], "name": "title"]],
        ])
    }

    private func words(_ words: [String], of command: Command) -> [String] {
        words.map { word in
            switch word {
            case "FILE": folder.path.appending(command.subject).string
            case "HISTORY": "db:\(state.name)"
            case "FAILURES": "db:\(database.name).failures"
            case "NEXT": folder.path.appending("next.json").string
            default: word
            }
        }
    }

    /// Returns the flag for the collection, if the command takes it, and the setting of the state database.
    private func flags(_ arguments: [String]) -> [String] {
        let name = arguments[0].prefix { $0 != " " }
        let isOfSchema = ["check", "lint", "diff", "plan", "enforce", "schema", "ledger"].contains(name)
        let takesCollection = isOfSchema && (arguments.prefix(2) != ["ledger", "show"] || arguments.count > 2)
        return (takesCollection ? ["--collection", collection] : [])
            + ["SHIPSHAPE_STATE_DATABASE=\(state.name)"]
    }

    /// Returns the privileges of the role that `grants` prints for a command.
    /// - Parameter isFull: whether the role includes the optional privileges.
    func privileges(of command: Command, isFull: Bool = false) async throws -> [BSONValue] {
        let words = words(command.grants, of: command)
        let run = try await Program.run(
            ["grants"] + words + flags(command.grants) + (isFull ? ["--full"] : []))
        try #require(run.exitCode == 0, "\(run.errors)")
        // These lines are JavaScript for mongosh. They differ from JSON only in that their keys have no quotation
        // marks.
        let lines = run.output.split(separator: "\n").filter { $0.contains("{ resource:") }
        return try lines.map { line in
            let json = line.replacing(/(\w+):/) { "\"\($0.output.1)\":" }.trimmingCharacters(in: [" ", ","])
            return .object(try BSONDocument(extendedJSON: json))
        }
    }

    /// Runs, as the administrator, the commands that must come before a command, and moves the collection if necessary.
    func precede(_ command: Command) async throws {
        for arguments in command.before {
            let run = try await Program.run(
                words(arguments, of: command) + flags(arguments) + ["--uri", mongod.uri])
            try #require([0, 1].contains(run.exitCode), "\(arguments): \(run.errors)")
        }
        if command.isMoved { try await mongod.move("person", of: database) }
    }

    /// Runs a command as a new user with these privileges, and then removes the user.
    func run(_ command: Command, with privileges: [BSONValue]) async throws -> ProgramRun {
        let name = "role-\(database.name)-\(UInt32.random(in: 0 ... .max))"
        let uri = try await mongod.addUser(name, privileges: privileges)
        let run = try await run(command, by: uri)
        try await mongod.admin(["dropUser": .string(name)])
        try await mongod.admin(["dropRole": .string("\(name)-role")])
        return run
    }
}

extension RoleCase {
    /// Runs a command with this connection string.
    func run(_ command: Command, by uri: String) async throws -> ProgramRun {
        try await Program.run(words(command.arguments, of: command) + flags(command.arguments) + ["--uri", uri])
    }
}

extension Mongod {
    /// Runs a test of roles, and then removes its databases and its folder.
    /// - Parameter mongod: the server; `nil` for the one that requires a login.
    static func withRoles(on mongod: Mongod? = nil, _ body: (RoleCase) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        var server = mongod
        if server == nil { server = try await Mongod.withAuthentication }
        let mongod = try #require(server)
        try await mongod.withDatabase { database in
            try await mongod.withDatabase { state in
                let test = RoleCase(mongod: mongod, database: database, state: state, folder: folder)
                try await test.prepare()
                try await body(test)
            }
        }
    }
}
