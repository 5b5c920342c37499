import BSON
import DumpWriter
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The program writes results to the files that the operator names, and to no others.
@Suite struct OutputFileTests {
    private func withFolder(_ body: (CommandLineFolder) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(CommandLineFolder.person, to: "schemas/app.person.json")
        try folder.write(#"{"_id": 1}"# + "\n", to: "people.jsonl")
        try folder.write(#"{"_id": 1}"# + "\n", to: "dump/app.person.json")
        try folder.write("- {collection: app.person, path: x, rule: y, reason: z, owner: a}\n", to: "known.yml")
        try folder.write("job: j\ncollection: app.person\nsteps:\n  - unset: {field: a}\n", to: "job.json")
        try await body(folder)
    }

    private func permissions(_ folder: CommandLineFolder, _ name: String) throws -> UInt16 {
        UInt16(try folder.path.appending(name).stat().permissions.rawValue & 0o777)
    }

    private func makePipe(_ folder: CommandLineFolder, _ name: String) throws {
        try #require(unsafe mkfifo(folder.path.appending(name).string, 0o600) == 0)
    }

    private let lint = ["lint", "person.json", "--collection", "app.person", "--report", "report.json"]

    @Test func aPlantedLinkIsNotFollowed() async throws {
        try await withFolder { folder in
            try folder.write("precious", to: "victim")
            for place in ["report.json.partial", "report.json"] {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.path.appending(place).string,
                    withDestinationPath: folder.path.appending("victim").string)
            }
            let before = folder.names
            let run = try await Program.run(lint, in: folder.path)
            #expect([0, 1].contains(run.exitCode), "\(run.errors)")
            #expect(folder.text(of: "victim") == "precious")
            #expect(folder.text(of: "report.json")?.contains("schema_version") == true)
            #expect(folder.names == before)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aPlantedPipeHoldsNothingUp() async throws {
        try await withFolder { folder in
            try makePipe(folder, "report.json.partial")
            let run = try await Program.run(lint, in: folder.path)
            #expect([0, 1].contains(run.exitCode), "\(run.errors)")
            #expect(folder.text(of: "report.json")?.contains("schema_version") == true)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aPipeWithoutAReaderIsGivenUp() async throws {
        try await withFolder { folder in
            try makePipe(folder, "report.json")
            let run = try await Program.run(lint, in: folder.path)
            #expect(run.exitCode == 73, "\(run.errors)")
            #expect(run.errors.contains("cannot write the report report.json"))
        }
    }

    /// While the program waits for a reader of a pipe, another user replaces the pipe by a link or a file.
    ///
    /// The program does not write to the replacement, but ends with exit code 73.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func aFileThatReplacesAPipeIsNotWritten(_ isLink: Bool) async throws {
        try await withFolder { folder in
            func place(_ name: String) -> String { folder.path.appending(name).string }
            try folder.write("precious", to: "victim")
            try makePipe(folder, "report.json")
            let run = try await Program.run(lint, in: folder.path) { program in
                try await waitUntil("the program sleeps") { try program.sleeps || program.hasEnded }
                if isLink {
                    try FileManager.default.createSymbolicLink(
                        atPath: place("new"), withDestinationPath: place("victim"))
                } else {
                    try FileManager.default.linkItem(atPath: place("victim"), toPath: place("new"))
                }
                try #require(unsafe rename(place("new"), place("report.json")) == 0)
            }
            #expect(run.exitCode == 73, "\(run.errors)")
            #expect(folder.text(of: "victim") == "precious")
        }
    }

    /// If there is a symbolic link at the path of a report, the report replaces the link, wherever the link leads.
    ///
    /// The program follows only the links that the system provides to the program's open files, such as
    /// `/proc/self/fd/1`.
    @Test func onlyTheSystemsOwnLinksAreFollowed() async throws {
        try await withFolder { folder in
            try makePipe(folder, "pipe")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path.appending("report.json").string,
                withDestinationPath: folder.path.appending("pipe").string)
            let run = try await Program.run(lint, in: folder.path)
            #expect([0, 1].contains(run.exitCode), "\(run.errors)")
            #expect(folder.text(of: "report.json")?.contains("schema_version") == true)
            let failures = Self.check + ["--failures", "/proc/self/fd/1", "--output", "json"]
            let shown = try await Program.shell(
                "cd \(folder.path); echo first >out; \"$0\" \"$@\" >>out; cat out", failures)
            #expect(shown.output.hasPrefix("first\n"), "\(shown.output)\(shown.errors)")
            #expect(shown.output.contains("schema_version") && shown.output.contains("\"_id\""), "\(shown.output)")
        }
    }

    @Test func aReportIsItsOwnersAndKeepsTheModeThatTheFileHad() async throws {
        try await withFolder { folder in
            #expect([0, 1].contains(try await Program.run(lint, in: folder.path).exitCode))
            #expect(try permissions(folder, "report.json") == 0o600)
            for mode: UInt16 in [0o640, 0o644, 0o600] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: Int(mode)], ofItemAtPath: folder.path.appending("report.json").string)
                #expect([0, 1].contains(try await Program.run(lint, in: folder.path).exitCode))
                #expect(try permissions(folder, "report.json") == mode)
            }
        }
    }

    @Test func everyOutputIsItsOwners() async throws {
        try await withFolder { folder in
            let check = ["check", "person.json", "--collection", "app.person", "--source", "people.jsonl"]
            _ = try await Program.run(check + ["--failures", "failures.jsonl"], in: folder.path)
            _ = try await Program.run(
                ["schema", "infer", "--collection", "app.person", "--source", "people.jsonl", "--out", "schema.json"],
                in: folder.path)
            try folder.write(CommandLineFolder.person.replacing("\"age\"", with: "\"years\""), to: "next.json")
            _ = try await Program.run(
                ["plan", "person.json", "next.json", "--collection", "app.person", "--out", "jobs"], in: folder.path)
            let jobs = try FileManager.default.contentsOfDirectory(atPath: folder.path.appending("jobs").string)
            let job = try #require(jobs.first { $0.hasSuffix(".yml") })
            for name in ["failures.jsonl", "schema.json", "jobs/\(job)"] {
                #expect(try permissions(folder, name) == 0o600, "\(name)")
            }
        }
    }

    private static let check = ["check", "person.json", "--collection", "app.person", "--source", "people.jsonl"]

    @Test(arguments: [
        check + ["--failures", "people.jsonl"], check + ["--failures", "./dump/../people.jsonl"],
        check + ["--report", "person.json"],
        check + ["--active", "schemas/app.person.json", "--report", "schemas/app.person.json"],
        check + ["SHIPSHAPE_EXCEPTIONS=known.yml", "--failures", "known.yml"], check + ["--failures", "hard-link"],
        check + ["--failures", "soft-link"],
        ["check", "schemas", "--source", "dump", "--failures", "dump/app.person.json"],
        ["check", "schemas", "--source", "dump", "--report", "schemas/app.person.json"],
        ["lint", "schemas", "--report", "schemas/app.person.json"],
        ["diff", "schemas", "person.json", "--report", "person.json"],
        ["diff", "person.json", "schemas", "--report", "person.json"],
        ["backfill", "job.json", "--dry-run", "--uri", "mongodb://127.0.0.1:1/", "--report", "job.json"],
        [
            "schema", "infer", "--source", "dump", "--collection", "app.person", "--as", "jsonschema", "--out", "dump",
            "--force",
        ],
        check + ["--report", "a.json", "--failures", "./a.json"],
        check + ["--uri", "mongodb://127.0.0.1:1/?tls=true&tlsCAFile=dump%2Fapp.person.json"]
            + ["--report", "dump/app.person.json"],
        ["status", "--uri", "mongodb://a:b@127.0.0.1:1/?tlsCertificateKeyFile=dump/app.person.json&tls=true"]
            + ["--report", "dump/app.person.json"],
        ["backfill", "job.json", "--dry-run", "--uri", "mongodb://127.0.0.1:1/", "--failures", "job.json"],
        ["backfill", "job.json", "--yes", "--ids", "people.jsonl", "--failures", "people.jsonl"]
            + ["--uri", "mongodb://127.0.0.1:1/"],
        ["backfill", "job.json", "--yes", "--failures", "a.json", "--report", "./a.json"]
            + ["--uri", "mongodb://127.0.0.1:1/"],
    ])
    func anOutputThatIsAnInputIsRefusedBeforeAnythingIsOpened(_ command: [String]) async throws {
        try await withFolder { folder in
            func place(_ name: String) -> String { folder.path.appending(name).string }
            try FileManager.default.linkItem(atPath: place("people.jsonl"), toPath: place("hard-link"))
            try FileManager.default.createSymbolicLink(
                atPath: place("soft-link"), withDestinationPath: place("people.jsonl"))
            let files = ["person.json", "people.jsonl", "schemas/app.person.json", "dump/app.person.json", "known.yml"]
            let (before, names) = (files.map { folder.text(of: $0) }, folder.names)
            let run = try await Program.run(command, in: folder.path)
            #expect(run.exitCode == 64, "\(run.status) \(run.errors)")
            #expect(files.map { folder.text(of: $0) } == before)
            #expect(folder.names == names)
        }
    }

    /// A new report may replace an earlier one in the folder of the schemas.
    @Test func aReportMayReplaceTheReportOfYesterday() async throws {
        try await withFolder { folder in
            for _ in 0..<2 {
                let run = try await Program.run(
                    ["lint", "schemas", "--report", "schemas/report.json"], in: folder.path)
                #expect([0, 1].contains(run.exitCode), "\(run.errors)")
            }
        }
    }
}

extension LiveProgram {
    /// Whether one of the program's threads sleeps for a fixed time.
    fileprivate var sleeps: Bool {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").contains { thread in
                let call = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/syscall", encoding: .utf8)
                // The number of the system call clock_nanosleep is 230 on x86-64 and 115 on ARM.
                return call.map { $0.hasPrefix("230 ") || $0.hasPrefix("115 ") } ?? false
            }
        }
    }
}
