import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that `--quiet` leaves out progress and notes.
///
/// Findings, report files, and outputs for other programs such as JSON stay as they are.
@Suite struct QuietTests {
    private func withFiles(_ body: (CommandLineFolder) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person.replacing(#""age""#, with: #""foo""#), to: "other.json")
        try folder.write(
            CommandLineFolder.person.replacing(#""bsonType": "string" }"#, with: #""bsonType": "string", "foo": 1 }"#),
            to: "person.json")
        try folder.write(#"{"_id": 1}"# + "\n", to: "people.jsonl")
        try await body(folder)
    }

    private static let check = ["check", "person.json", "--collection", "app.person", "--source", "people.jsonl"]
    private static let infer = [
        "schema", "infer", "--collection", "app.person", "--source", "people.jsonl", "--out", "new.json",
    ]

    @Test(arguments: [check, infer]) func notesAreShownUnlessTheCommandIsQuiet(_ command: [String]) async throws {
        try await withFiles { folder in
            let spoken = try await Program.run(command, in: folder.path)
            #expect(spoken.output.contains("\nNote: "), "\(spoken.output)\(spoken.errors)")
            try? FileManager.default.removeItem(atPath: folder.path.appending("new.json").string)
            let quiet = try await Program.run(command + ["-q", "--report", "r.txt"], in: folder.path)
            #expect(quiet.exitCode == spoken.exitCode)
            #expect(!quiet.output.contains("Note: ") && quiet.errors == "", "\(quiet.output)\(quiet.errors)")
            #expect(folder.text(of: "r.txt")?.contains("\nNote: ") == true)
            let headline = try #require(spoken.output.split(separator: "\n").first)
            #expect(quiet.output.hasPrefix(headline), "\(quiet.output)")
        }
    }

    @Test func aMachineReadsTheNotesAlsoOfAQuietRun() async throws {
        try await withFiles { folder in
            for form in ["json", "jsonl", "markdown"] {
                let run = try await Program.run(Self.check + ["-q", "-o", form], in: folder.path)
                #expect(run.output.contains("is ignored"), "\(run.output)")
            }
        }
    }

    @Test func aQuietBackfillShowsNoNotes() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.job(steps: ["default: {field: email, value: none}"], more: "journal: false")
            let spoken = try await test.backfill("job", "--dry-run", yes: false)
            #expect(spoken.output.contains("\nNote: "), "\(spoken.output)\(spoken.errors)")
            let quiet = try await test.backfill("job", "--dry-run", "--quiet", yes: false)
            #expect(quiet.exitCode == spoken.exitCode)
            #expect(!(quiet.output + quiet.errors).contains("Note: "), "\(quiet.output)\(quiet.errors)")
        }
    }
}
