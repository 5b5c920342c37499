import BSON
import SystemPackage
import TestSupport
import Testing

/// A command on a started job refuses a job file that names another collection.
///
/// It also refuses collections of the server, of the sync service and of the state database, even if the job's document
/// in the state database names one of them.
@Suite struct RefusedCollectionTests {
    private static let reserved = [
        "__realm_sync.unsynced_documents", "__realm_sync_5f.history", "admin.people", "config.settings", "local.people",
    ]

    /// Runs a job to its end, and then a test that may change the job's document in the state database.
    private func withJob(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 5) { ["_id": .integer($0), "age": .integer($0)] }
            try await test.database.fill("others", count: 5)
            try test.job(steps: ["expression: {field: age, value: {$add: [$age, 1]}, once: ageWasRaised}"])
            #expect(try await test.backfill().exitCode == 0)
            try await body(test)
        }
    }

    private static let commands = [
        ["undo"], ["undo", "--dry-run"], ["job", "rebind", "--yes"], ["job", "cleanup", "--yes"],
    ]

    /// Returns a command with the job after the words of its name.
    private static func with(_ job: String, _ command: [String]) -> [String] {
        let count = command[0] == "job" ? 2 : 1
        return command.prefix(count) + [job] + command.dropFirst(count)
    }

    @Test(arguments: commands) func aFileOfAnotherCollectionIsRefused(_ command: [String]) async throws {
        try await withJob { test in
            try test.job(
                on: "others", steps: ["expression: {field: age, value: {$add: [$age, 1]}, once: ageWasRaised}"])
            let arguments = Self.with(test.path(), command)
            let run = try await Program.run(
                arguments + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
            #expect(run.exitCode == 65, "\(run.output)\(run.errors)")
            #expect(
                run.errors.contains(
                    "was started on \(test.database.name).people, but its file names \(test.database.name).others"),
                "\(run.errors)")
            // A command with only the job's name acts on the collection on which the job was started.
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.database.count("people", ["ageWasRaised": true]) == 0)
        }
    }

    @Test(arguments: commands) func aRecordOfAReservedCollectionIsRefused(_ command: [String]) async throws {
        try await withJob { test in
            for name in Self.reserved + ["\(test.state.name).ranges"] {
                try await test.state.set("jobs", "job", ["ns": .string(name)])
                let run = try await Program.run(
                    Self.with("job", command)
                        + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
                #expect(run.exitCode == 65, "\(name): \(run.output)\(run.errors)")
                #expect(run.errors.contains("no job can use \(name): the database "), "\(run.errors)")
            }
        }
    }

    @Test(.fencedDeletes) func aJournalThatNamesDocumentsOfAReservedCollectionIsRefused() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3) { ["_id": .integer($0), "home": ["city": .integer($0)]] }
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, generate: uuid}"])
            #expect(try await test.backfill().exitCode == 0)
            let written = try await test.database.documents("people")
            for name in Self.reserved {
                try await test.state.run([
                    "update": "journal",
                    "updates": [
                        [
                            "q": ["created": ["$exists": true]], "u": ["$set": ["created.$[].ns": .string(name)]],
                            "multi": true,
                        ]
                    ],
                ])
                let run = try await test.undo()
                #expect(run.exitCode == 65, "\(run.output)\(run.errors)")
                #expect(run.errors.contains("no job can use \(name): "), "\(run.errors)")
                #expect(try await test.database.documents("people") == written)
            }
        }
    }

    @Test func enforceRefusesThem() async throws {
        try await Mongod.shared.withBackfill { test in
            for name in Self.reserved + ["\(test.state.name).jobs"] {
                let run = try await Program.run([
                    "enforce", "--abort", "--yes", "--collection", name, "--uri", test.uri,
                    "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                ])
                #expect(run.exitCode == 64, "\(name): \(run.output)\(run.errors)")
                #expect(run.errors.contains("enforce sets no validator for \(name): "), "\(run.errors)")
            }
        }
    }

    @Test(arguments: ["init", "mirror", "verify", "cutover", "drop"])
    func noSideOfAPartnerIsInTheStateDatabase(_ command: String) async throws {
        try await Mongod.shared.withPartner { test in
            try test.folder.write(
                """
                partner: tasks
                source: \(test.state.name).streams
                target: \(test.database.name).TaskV2
                \(PartnerCase.documented)

                """, to: "tasks.yml")
            let flags = ["cutover", "drop"].contains(command) ? ["--yes"] : []
            let run = try await Program.run(
                ["partner", command, test.folder.path.appending("tasks.yml").string, "--uri", test.uri]
                    + ["SHIPSHAPE_STATE_DATABASE=\(test.state.name)"] + flags)
            #expect(run.exitCode == 65, "\(run.output)\(run.errors)")
            #expect(
                run.errors.contains("no job can use \(test.state.name).streams: the database holds the state of jobs"),
                "\(run.errors)")
        }
    }
}
