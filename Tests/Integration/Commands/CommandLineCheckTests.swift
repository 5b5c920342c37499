import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests where the command `check` writes its results, and which exit codes it returns.
@Suite struct CommandLineCheckTests {
    private static let fitting: [BSONDocument] = [["_id": 1, "name": "Ada"], ["_id": 2, "name": "Grace", "age": 36]]
    private static let failing: [BSONDocument] = [["_id": 3], ["_id": 4, "name": nil], ["_id": 5]]
    private static let possible: [BSONDocument] = [["_id": 6, "name": "Hedy", "age": .long(36)]]

    /// Runs a check of a collection with these documents.
    ///
    /// - Parameter folder: the folder for the schema; `nil` uses a temporary one.
    private func check(
        _ documents: [BSONDocument], _ more: [String] = [], in folder: CommandLineFolder? = nil
    ) async throws -> ProgramRun {
        let mongod = try await Mongod.shared
        let own = try CommandLineFolder()
        defer { own.remove() }
        return try await mongod.withDatabase { database in
            try await database.fill("person", documents)
            return try await Program.run(
                try (folder ?? own).check(database, on: mongod) + ["SHIPSHAPE_THREADS=1"] + more)
        }
    }

    @Test func documentsThatFitEndWith0() async throws {
        let run = try await check(Self.fitting)
        #expect(run.exitCode == 0)
        #expect(run.errors == "")
        #expect(
            run.output.hasPrefix("0 documents would stop syncing.\n\n"), "\(run.output)")
        #expect(run.output.contains(".person: 2 documents read, all fit\n"), "\(run.output)")
        #expect(run.output.hasSuffix("To compare with the schema in use, add --active.\n"), "\(run.output)")
    }

    @Test func documentsThatFailEndWith1() async throws {
        let run = try await check(Self.fitting + Self.failing, ["--filters"])
        #expect(run.exitCode == 1)
        #expect(run.errors == "")
        #expect(run.output.hasPrefix("3 documents would stop syncing.\n"))
        #expect(run.output.contains("required-missing  name  string    missing  3\n"), "\(run.output)")
        #expect(run.output.contains(#".find({ "name": { "$type": "null", "$not": { "$type": "array" } } })"# + "\n"))
    }

    @Test func possibleFindingsFailOnlyWhenStrict() async throws {
        #expect(try await check(Self.possible).exitCode == 0)
        let run = try await check(Self.possible, ["--strict"])
        #expect(run.exitCode == 1)
        #expect(run.output.contains("1 (100%) might not sync"))
    }

    @Test func infosAreShownOnRequestAndNeverFail() async throws {
        let documents: [BSONDocument] = [["_id": 1, "name": "Ada", "extra": 1]]
        #expect(try await !check(documents).output.contains("extra-field"))
        let run = try await check(documents, ["--info", "--strict"])
        #expect(run.output.contains("info   extra-field  extra  no such field  int"))
        #expect(run.exitCode == 0)
    }

    @Test func jsonHoldsWhatTextHolds() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let (json, text) = (folder.path.appending("r.json").string, folder.path.appending("r.txt").string)
        let run = try await check(
            Self.failing + Self.possible, ["-o", "json", "--report", json, "--report", text], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors == "")
        let report = try BSONDocument(extendedJSON: run.output)
        #expect(folder.text(of: "r.json") == run.output)
        #expect(report["command"] == "check")
        #expect(report["verdict"]?.document?["band"] == "documents_will_stop")
        let collection = try #require(report["collections"]?.document?.values.first?.document)
        #expect(collection["documents_read"] == 4)
        let groups = (collection["groups"]?.document?.values ?? []).compactMap(\.document)
        #expect(groups.compactMap { $0["documents"]?.integer } == [2, 1, 1])
        let lines = try #require(folder.text(of: "r.txt"))
        for group in groups {
            for name in ["rule", "path", "expected", "found", "level"] {
                let value = try #require(group[name]?.text)
                #expect(lines.contains(value))
            }
        }
        #expect(folder.names == ["person.json", "r.json", "r.txt"])
    }

    @Test func aReportThatCannotBeWrittenEndsWith73BeforeTheCheck() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write("", to: "taken.txt/file")
        for path in ["/no/such/folder/r.json", "/proc/r.txt", folder.path.appending("taken.txt").string] {
            let run = try await check(Self.fitting, ["--report", path], in: folder)
            #expect(run.exitCode == 73)
            #expect(run.errors.hasPrefix("shipshape: cannot write the report \(path): "))
            #expect(run.errorLines.count == 1)
            #expect(run.output == "")
            #expect(folder.names == ["person.json", "taken.txt"])
        }
    }

    @Test func aReportThatFailsLaterDoesNotKeepTheResultBack() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", Self.failing)
            // With `ulimit -f 0`, the report's file can be opened but not written to.
            let full = folder.path.appending("full.txt").string
            let run = try await Program.shell(
                #"ulimit -f 0; exec "$0" "$@""#,
                try folder.check(database, on: mongod) + ["SHIPSHAPE_THREADS=1", "--report", full])
            #expect(run.exitCode == 73)
            #expect(run.output.hasPrefix("3 documents would stop syncing.\n"))
            #expect(run.errors.hasPrefix("shipshape: cannot write the report \(full): "), "\(run.errors)")
        }
    }

    @Test func aViewIsANote() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("all", Self.fitting + Self.failing)
            try await database.run(
                ["create": "person", "viewOn": "all", "pipeline": [["$match": ["_id": ["$gte": 5]]]]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let run = try await Program.run(try folder.check(database, on: mongod))
            #expect(run.exitCode == 1)
            #expect(run.output.contains(".person: 1 document read, 1 (100%) does not sync"))
            #expect(run.output.contains("Not a point-in-time result: "))
            #expect(run.output.contains("Not resumable: a lost cursor ends the check: "))
            #expect(run.output.contains(".person is a view, and a view has no change stream.\n"))
        }
    }
}
