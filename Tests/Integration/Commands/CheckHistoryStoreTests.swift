import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests the summaries that `check --history` stores, and the trend that `history` shows.
@Suite struct CheckHistoryStoreTests {
    private func withPeople(
        _ body: (TestDatabase, CommandLineFolder, @escaping @Sendable ([String]) async throws -> ProgramRun)
            async throws ->
            Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"], ["_id": 2], ["_id": 3]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod)
            try await body(database, folder) { try await Program.run(arguments + $0, in: folder.path) }
        }
    }

    private func files(_ folder: CommandLineFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path.appending("history").string)
            .filter { $0.hasSuffix(".json") }.sorted()
    }

    @Test func theNextCheckSaysWhatChanged() async throws {
        try await withPeople { database, folder, check in
            let first = try await check(["--history", "history"])
            #expect(first.exitCode == 1, "\(first.errors)")
            #expect(!first.output.contains("the check of"))
            try await database.update("person", ["_id": 2], ["$set": ["name": "Bo"]])
            try await database.update("person", ["_id": 1], ["$set": ["age": "old"]])
            let second = try await check(["--history", "history", "--report", "c.md", "--report", "c.json"])
            #expect(second.exitCode == 1, "\(second.errors)")
            // The output's first two blocks are the verdict and the trend; the third has the differences from the
            // first check.
            let block = second.output.split(separator: "\n\n").dropFirst(2).first ?? ""
            #expect(block.contains(": 1 new, 0 grown, 1 shrunk, 0 gone."), "\(second.output)")
            #expect(block.contains("type-mismatch") && block.contains("required-missing"), "\(block)")
            #expect(folder.text(of: "c.md")?.contains("1 new, 0 grown, 1 shrunk") == true)
            let json = try JSONValue(folder.text(of: "c.json") ?? "")
            #expect(json["history"]?["new"] == .number(1) && json["history"]?["changes"]?.elements.count == 2)
            let kept = try files(folder)
            #expect(kept.count == 2)
            let mode = try FileManager.default.attributesOfItem(
                atPath: folder.path.appending("history/\(kept[0])").string)[.posixPermissions]
            #expect(mode as? Int == 0o600)

            let trend = try await Program.run(
                ["history", "history", "--report", "h.html"], environment: ["LC_ALL": "C"], in: folder.path)
            #expect(trend.exitCode == 0, "\(trend.errors)")
            #expect(trend.output.hasPrefix("2 documents would stop syncing, as many as 1 check ago"), "\(trend.output)")
            #expect(trend.output.contains("would stop syncing  @@  2"), "\(trend.output)")
            #expect(folder.text(of: "h.html")?.contains("<path class=\"line error\"") == true)
        }
    }

    @Test func aDatabaseKeepsItAsAFolderDoes() async throws {
        try await withPeople { database, folder, check in
            let mongod = try await Mongod.shared
            try await mongod.withDatabase { kept in
                let place = "db:\(kept.name)"
                #expect(try await check(["--history", place]).exitCode == 1)
                try await database.update("person", ["_id": 2], ["$set": ["name": "Bo"]])
                let second = try await check(["--history", place])
                #expect(second.output.contains(": 0 new, 0 grown, 1 shrunk, 0 gone."), "\(second.output)")
                // A check of a dump can also store its summary in a database. The dump counts as another source, so its
                // summary is not compared with the earlier ones.
                try folder.write("{\"_id\": 1}\n", to: "dump.json")
                let dump = try await check(["--history", place, "--source", "dump.json"])
                #expect(dump.exitCode == 1 && !dump.output.contains("the check of"), "\(dump.output)\(dump.errors)")

                try await kept.fill("checks", [["_id": "ours", "record": "note"]])
                let trend = try await Program.run(["history", place, "--uri", mongod.uri, "-o", "json"])
                #expect(trend.exitCode == 0, "\(trend.errors)")
                let json = try JSONValue(trend.output)
                #expect(json["runs"]?.elements.map { $0["failing"] } == [.number(2), .number(1), .number(1)])
                #expect(json["folder"] == .string(place))
                let foreign = "\(kept.name).checks, _id \"ours\": it is not the summary of a check"
                #expect(
                    json["notes"]?.elements.contains { $0.text?.contains(foreign) == true } == true, "\(trend.output)")
                let pruned = try await Program.run(["history", place, "--uri", mongod.uri, "--keep", "1"])
                #expect(pruned.errors == "removed 2 checks from \(place)\n", "\(pruned.errors)")
                #expect(try await kept.count("checks", [:]) == 2)
            }
        }
    }

    @Test func anInvalidDatabaseNameIsRefused() async throws {
        for name in ["db:", "db:admin", "db:a.b"] {
            for arguments in [["check", "/tmp", "--history", name], ["history", name]] {
                let run = try await Program.run(arguments)
                #expect(run.exitCode == 64, "\(run.errors)")
                #expect(run.errors.contains("cannot be the name of a database for the history"), "\(run.errors)")
            }
        }
    }

    @Test func checksAtTheSameTimeAreAllKept() async throws {
        try await withPeople { _, folder, check in
            try await withThrowingTaskGroup(of: Int32?.self) { group in
                for _ in 0..<3 { group.addTask { try await check(["--history", "history"]).exitCode } }
                for try await code in group { #expect(code == 1) }
            }
            #expect(try files(folder).count == 3)
        }
    }

    @Test func anEntryThatIsNoSummaryIsNamedAndSkipped() async throws {
        try await withPeople { _, folder, check in
            #expect(try await check(["--history", "history"]).exitCode == 1)
            let kept = try #require(try files(folder).first)
            try folder.write("{\"record\": \"check_su", to: "history/damaged.json")
            try folder.write("{\"bsonType\": \"object\"}", to: "history/schema.json")
            try folder.write("notes", to: "history/README")
            let run = try await check(["--history", "history"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("Nothing changed since the check of"), "\(run.output)")
            #expect(run.output.contains("history/damaged.json: it is not a complete JSON object"), "\(run.output)")
            #expect(run.output.contains("history/schema.json: it is not the summary of a check"), "\(run.output)")
            #expect(!run.output.contains("README"))
            // `history --keep` removes only files that `check` wrote.
            let pruned = try await Program.run(["history", "history", "--keep", "1"], in: folder.path)
            #expect(pruned.exitCode == 0 && pruned.errors == "removed 1 check from history\n", "\(pruned.errors)")
            #expect(try files(folder).count == 3)
            #expect(try !files(folder).contains(kept))
        }
    }

    @Test func aPartIsNotKept() async throws {
        try await withPeople { _, folder, check in
            let run = try await check(["--history", "history", "--where", "{\"_id\": 2}"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("not kept in the history"), "\(run.output)")
            #expect(try files(folder).isEmpty)
        }
    }

    @Test func aFolderThatCannotBeWrittenIsReportedBeforeTheCheck() async throws {
        try await withPeople { _, folder, check in
            try folder.write("a file", to: "file")
            for (place, message) in [
                ("nowhere/history", "cannot create the folder nowhere/history"),
                ("file", "cannot write to the history file"), ("/proc", "cannot write to the history /proc"),
            ] {
                let run = try await check(["--history", place])
                #expect(run.exitCode == 73, "\(run.errors)")
                #expect(run.errors.contains(message), "\(run.errors)")
                #expect(run.output == "")
            }
        }
        let among = try await Program.run(["check", "/tmp", "--history", "/tmp/."])
        #expect(among.exitCode == 64 && among.errors.contains("/tmp/. is also an input (/tmp)"), "\(among.errors)")
        let none = try await Program.run(["history", "/nowhere"])
        #expect(none.exitCode == 65)
        #expect(
            none.errors == "shipshape: /nowhere is not a folder: name the folder that you gave to check --history\n")
    }
}
