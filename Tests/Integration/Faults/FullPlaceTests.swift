import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The disk has no room for an output file, or the file cannot be written to.
///
/// No file is left half written, finished work is kept, and exit code 73 reports the output that could not be stored.
@Suite struct FullPlaceTests {
    /// An output file: the flag that asks for it, and the name of the file.
    struct Output: CustomTestStringConvertible, Sendable {
        let flag: String
        let name: String

        init(_ flag: String, _ name: String) { (self.flag, self.name) = (flag, name) }

        var testDescription: String { "\(flag) \(name)" }

        static let reports = ["txt", "json", "jsonl", "md", "html", "xml"].map { Output("--report", "r.\($0)") }
        static let others = [Output("--failures", "f.jsonl"), Output("--metrics", "m.prom")]
        static let all = reports + others
        static let ofJobs = TestScale.pick([reports[1]] + others, full: all, torture: all)
    }

    /// The name of the fault in the rows that `FaultTable` prints.
    private static let row = "no room for a report, failures or metrics"

    /// Runs the program with a limit in KiB on the size of each file.
    ///
    /// A write beyond the limit fails, as on a full disk.
    private func run(_ arguments: [String], room kilobytes: Int) async throws -> ProgramRun {
        try await Program.shell(#"ulimit -f "$1" && shift && exec "$0" "$@""#, ["\(kilobytes)"] + arguments)
    }

    private func expectNothingHalfWritten(_ folder: CommandLineFolder, _ output: Output, _ run: ProgramRun) {
        #expect(run.exitCode == 73, "\(run.status): \(run.errors)")
        #expect(run.errors.contains("\(folder.path.appending(output.name)): File too large"), "\(run.errors)")
        #expect(folder.text(of: output.name) == "of yesterday")
        #expect(!folder.names.contains { $0.hasSuffix(".partial") })
    }

    /// The system limits the size of the output file to 0 or 1 KiB.
    ///
    /// If the output does not fit, the program keeps the file of an earlier run.
    @Test(arguments: Output.all) func aCheckKeepsWhatWasThereBefore(_ output: Output) async throws {
        let isLong = ["r.json", "r.html", "f.jsonl"].contains(output.name)
        for room in TestScale.pick([isLong ? 1 : 0], full: [0, 1], torture: [0, 1]) {
            try await check(output, room: room)
            FaultTable.note("check", Self.row, tries: 1, continued: 0)
        }
    }

    private func check(_ output: Output, room: Int) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            // Many documents fail, so that the longer outputs exceed one KiB.
            try await database.fill("person", count: 50) { ["_id": .integer($0), "name": .integer($0)] }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let place = try folder.write("of yesterday", to: output.name)
            let run = try await run(try folder.check(database, on: mongod) + [output.flag, place], room: room)
            if room > 0, run.exitCode != 73 {
                // The output fits into one KiB, so the file is complete.
                #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
                #expect(folder.text(of: output.name) != "of yesterday")
                return
            }
            expectNothingHalfWritten(folder, output, run)
            // If the failures file does not fit, the scan ends. The other files are written after the scan, so the
            // program still prints the scan's result.
            if output.flag != "--failures" {
                #expect(run.output.contains("50 documents would stop syncing"), "\(run.output)")
            }
        }
    }

    @Test func aHistoryKeepsNoHalfACheck() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": 5]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let history = folder.path.appending("history")
            let check = try folder.check(database, on: mongod) + ["--history", history.string]
            let full = try await run(check, room: 0)
            #expect(full.exitCode == 73, "\(full.status): \(full.errors)")
            #expect(full.errors.contains("File too large"), "\(full.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: history.string).isEmpty)
            let next = try await Program.run(check)
            #expect(next.exitCode == 1, "\(next.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: history.string).count == 1)
        }
    }

    @Test(arguments: Output.ofJobs) func aBackfillIsDoneAllTheSame(_ output: Output) async throws {
        let subject = FaultSubject.backfill
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await subject.trial(mongod) { trial in
            let place = try folder.write("of yesterday", to: output.name)
            let run = try await run(trial.arguments + ["--uri", trial.uri, output.flag, place], room: 0)
            expectNothingHalfWritten(folder, output, run)
            let end = try await trial.outcome(run)
            #expect(end == expected, "\(difference(end, expected))")
            // The next run has no limit on file sizes. It reports that everything is done, and writes the output file.
            let next = try await trial.run([output.flag, place])
            #expect(next.exitCode == 0, "\(next.status): \(next.errors)")
            #expect(folder.text(of: output.name) != "of yesterday")
        }
        FaultTable.note(subject, Self.row, tries: 1, continued: 0)
    }

    @Test(arguments: Output.ofJobs) func aJobDoesNotBeginWhereItsResultMayNotBeWritten(_ output: Output) async throws {
        try await FaultSubject.backfill.trial(try await Mongod.shared) { trial in
            let before = try await trial.database.documents("tasks")
            let run = try await trial.run([output.flag, "/proc/\(output.name)"])
            #expect(run.exitCode == 73, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("/proc/\(output.name)"), "\(run.errors)")
            #expect(try await trial.database.documents("tasks") == before)
            #expect(try await trial.state.documents("ranges").isEmpty)
        }
        FaultTable.note(.backfill, Self.row, tries: 1, continued: 0)
    }

    /// The run finishes its work, although another process removes the folder of the output file before the run ends.
    @Test(arguments: Output.ofJobs) func aFolderThatGoesDuringARunTakesNoWorkWithIt(_ output: Output) async throws {
        let subject = FaultSubject.backfill
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        let folder = try CommandLineFolder()
        try await subject.trial(mongod) { trial in
            let place = folder.path.appending(output.name).string
            let run = try await trial.run([output.flag, place], fault: "before-write:2:stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                folder.remove()
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 73, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("\(place): No such file or directory"), "\(run.errors)")
            let end = try await trial.outcome(run)
            #expect(end == expected, "\(difference(end, expected))")
        }
        FaultTable.note(subject, Self.row, tries: 1, continued: 0)
    }
}
