import BSON
import Foundation
import TestSupport
import Testing

/// Tests that the role which `grants` prints is enough for its command, and that the command needs each action of the
/// role.
@Suite struct GrantedRoleTests {
    /// The privileges of a role without one of its actions.
    ///
    /// `action` and `resource` state which action on which resource is missing.
    struct Lacking: Sendable {
        let privileges: [BSONValue]
        let action: String
        let resource: BSONDocument

        /// Returns one case for each action in the privileges, in which only this action is missing.
        static func all(of privileges: [BSONValue]) -> [Lacking] {
            privileges.indices.flatMap { index -> [Lacking] in
                guard let entry = privileges[index].document, let resource = entry["resource"]?.document else {
                    return []
                }
                let actions = entry["actions"]?.document?.values.compactMap(\.text) ?? []
                return actions.map { action in
                    var others = privileges
                    others[index] = [
                        "resource": .object(resource),
                        "actions": .array(of: actions.filter { $0 != action }.map { .string($0) }),
                    ]
                    if actions.count == 1 { others.remove(at: index) }
                    return Lacking(privileges: others, action: action, resource: resource)
                }
            }
        }

        /// The name of the resource in errors of the program.
        var place: String {
            let (database, collection) = (resource["db"]?.text ?? "", resource["collection"]?.text ?? "")
            return collection.isEmpty ? "the database \(database)" : "\(database).\(collection)"
        }

        /// Whether another privilege allows the missing action on the whole database.
        var isCovered: Bool {
            privileges.compactMap(\.document).contains { entry in
                entry["resource"]?.document?["db"] == resource["db"] && entry["resource"]?.document?["collection"] == ""
                    && entry["actions"]?.document?.values.contains(.string(action)) == true
            }
        }
    }

    @Test(.fencedDeletes, arguments: RoleCase.commands)
    func theRoleIsEnoughAndWithoutAnyActionOfItTheCommandIsRefusedBeforeItBegins(
        _ command: RoleCase.Command
    ) async throws {
        try await Mongod.withRoles { test in
            try await test.precede(command)
            let privileges = try await test.privileges(of: command)
            let step = TestScale.pick(3, full: 1, torture: 1)
            for (number, lacking) in Lacking.all(of: privileges).filter({ !$0.isCovered }).enumerated()
            where number.isMultiple(of: step) {
                let refused = try await test.run(command, with: lacking.privileges)
                #expect(refused.exitCode == 77, "\(lacking.action) on \(lacking.place): \(refused.errors)")
                #expect(refused.errors.contains(lacking.action), "\(refused.errors)")
                #expect(refused.errors.contains(lacking.place), "\(refused.errors)")
            }
            let run = try await test.run(command, with: privileges)
            #expect(run.exitCode.map(command.exitCodes.contains) == true, "\(run.errors)")
        }
    }

    /// If the role includes the optional privileges, the command succeeds and does not report that a throttle is
    /// missing.
    @Test(
        .fencedDeletes,
        arguments: RoleCase.commands.filter { ["check", "backfill", "ledger"].contains($0.arguments[0]) })
    func theFullRoleIsEnoughToo(_ command: RoleCase.Command) async throws {
        try await Mongod.withRoles { test in
            try await test.precede(command)
            let run = try await test.run(command, with: try await test.privileges(of: command, isFull: true))
            #expect(run.exitCode.map(command.exitCodes.contains) == true, "\(run.errors)")
            #expect(!run.errors.contains("no throttle"), "\(run.errors)")
        }
    }

    @Test func withoutALoginNothingIsMissing() async throws {
        let mongod = try await Mongod.shared
        let run = try await Program.run(["status", "--uri", mongod.uri, "SHIPSHAPE_STATE_DATABASE=no_such_state"])
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func theRoleCoversEveryPartnerJobThatIsNamed() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let jobs = try ["a", "b"].map { name in
            try folder.write(
                "partner: \(name)\nsource: app.\(name)\ntarget: app.\(name)V2\n\(PartnerCase.renaming)\n",
                to: "\(name).yml")
        }
        let run = try await Program.run(["grants", "partner", "mirror"] + jobs)
        #expect(run.exitCode == 0, "\(run.errors)")
        for collection in ["a", "aV2", "b", "bV2"] {
            #expect(run.output.contains(#"{ db: "app", collection: "\#(collection)" }"#), "\(run.output)")
        }
    }

    /// A command of the program, as the argument parser describes it.
    private struct Parsed: Decodable {
        struct Root: Decodable { let command: Parsed }
        struct Argument: Decodable { let names: [Name]? }
        struct Name: Decodable { let name: String }

        let commandName: String
        let subcommands: [Parsed]?
        let arguments: [Argument]?

        /// The commands that have no subcommands, each with the words that call it and the names of its options.
        func leaves(_ before: [String] = []) -> [(words: [String], options: Set<String>)] {
            guard let subcommands else {
                return [(before, Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)))]
            }
            return subcommands.flatMap { $0.leaves(before + [$0.commandName]) }
        }
    }

    @Test func everyCommandHasARoleOrAsksNoDeployment() async throws {
        let dump = try await Program.run(["--experimental-dump-help"])
        let commands = try JSONDecoder().decode(Parsed.Root.self, from: Data(dump.output.utf8)).command.leaves()
            .filter { $0.words != ["help"] }
        #expect(commands.count > 20)
        let subject = ["--collection", "app.person", "--history", "db:checks"]
        for (words, options) in commands {
            let run = try await Program.run(["grants"] + words + subject)
            // `init` only writes the connection string into a file.
            guard options.contains("uri"), words != ["init"] else {
                #expect(run.exitCode == 64 && run.errors.contains("needs no role"), "\(words): \(run.errors)")
                continue
            }
            #expect(run.exitCode == 0 && run.output.contains("createRole"), "\(words): \(run.errors)")
            for option in [["--dry-run"], ["--engine", "powersync"]] {
                let run = try await Program.run(["grants"] + words + subject + option)
                let isKnown = options.contains(String(option[0].dropFirst(2)))
                #expect(run.exitCode == (isKnown ? 0 : 64), "\(words) \(option): \(run.errors)")
            }
        }
    }

    @Test func anEngineNeedsNoSchema() async throws {
        let database = try await Program.run(
            ["grants", "check", "--engine", "powersync", "SHIPSHAPE_URI=mongodb://127.0.0.1/shop"])
        #expect(database.output.contains(#"{ resource: { db: "shop", collection: "" }, actions: ["find"] }"#))
        #expect(!database.output.contains("__realm_sync"), "only Device Sync has a ledger")
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let model = try folder.write(
            #"{"modelVersion": 5, "entities": [{"id": "1:1", "name": "Toy", "flags": 2, "properties": []}]}"#,
            to: "model.json")
        let named = try await Program.run(
            ["grants", "check", model, "--engine", "objectbox", "SHIPSHAPE_DATABASE=shop"])
        #expect(named.output.contains(#"{ db: "shop", collection: "Toy" }"#), "\(named.errors)")
    }

    @Test func anArgumentWithoutARoleIsWrongUsage() async throws {
        for (words, part) in [
            (["chekc"], "there is no command \"chekc\" (did you mean \"check\"?)"),
            (["backfill"], "say what backfill works on"),
            (["partner", "plan"], "say what partner plan works on"), (["partner"], "there is no command \"partner\""),
            (["job", "pause", "--dry-run"], "--dry-run: job pause has no dry run"),
            (["grants"], "grants needs no role"),
        ] {
            let run = try await Program.run(["grants"] + words)
            #expect(run.exitCode == 64, "\(words): \(run.errors)")
            #expect(run.errors.contains(part), "\(run.errors)")
        }
    }
}
