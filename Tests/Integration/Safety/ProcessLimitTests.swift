import BSON
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// If the system denies the program a resource, the program does not crash, but ends with an error.
///
/// The error names the resource.
@Suite struct ProcessLimitTests {
    private func limited(_ limits: String, _ arguments: [String]) async throws -> ProgramRun {
        try await Program.shell("ulimit \(limits) && exec \"$0\" \"$@\"", arguments)
    }

    @Test(arguments: [("-n 10", "ulimit -n"), ("-v 400000", "ulimit -v")])
    func tooLittleIsSaidBeforeAnythingIsDone(_ limit: String, _ word: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let lint = ["lint", try folder.write(CommandLineFolder.person, to: "person.json"), "--collection", "a.person"]
        let run = try await limited(limit, lint)
        #expect(run.exitCode == 78, "\(run.status): \(run.errors)")
        #expect(run.errors.contains("raise \(word)"), "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    /// The program reports that the system allows it too few threads.
    ///
    /// The limit on processes does not apply to root, so a test that runs as root starts the program as another user.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func tooFewThreadsAreSaid() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        _ = unsafe chmod(folder.path.string, 0o755)
        let unprivileged =
            geteuid() == 0 ? "setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all" : ""
        let run = try await Program.shell(
            "ulimit -u 5 && exec \(unprivileged) \"$0\" \"$@\"",
            ["lint", try folder.write(CommandLineFolder.person, to: "person.json"), "--collection", "a.person"])
        // The exit code is 126 or 127 if user 65534 has no access to the program's folder. The test cannot run then.
        if run.exitCode == 126 || run.exitCode == 127 { return }
        #expect(run.exitCode == 78, "\(run.status): \(run.errors)")
        #expect(run.errors.contains("ulimit -u"), "\(run.errors)")
    }

    /// The program raises the soft limit on open files as far as the hard limit allows, so a low soft limit is no
    /// obstacle.
    @Test func aLowSoftLimitIsNoObstacle() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let run = try await limited("-S -n 20", try folder.check(database, on: mongod))
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
        }
    }

    /// If the program's output exceeds the limit on file sizes, the program ends with exit code 73.
    ///
    /// The limit also applies to a file that the driver creates before the program begins its command. The system must
    /// not kill the program then.
    @Test func aFileThatMayNotGrowIsExitCode73() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 500) { ["_id": .integer($0), "name": .integer($0)] }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let check = try folder.check(database, on: mongod)
            let out = folder.path.appending("out").string
            let run = try await Program.shell(
                "unset MONGOC_DISABLE_SHM; ulimit -f 1; exec \"$0\" \"$@\" > \(out)",
                check + ["--output", "html"])
            #expect(run.exitCode == 73, "\(run.status): \(run.errors)")
        }
    }

    /// A signal stops a check while the server runs a slow script of the check's filter.
    ///
    /// The check then disconnects, and the server ends the script with an error. The check must not report that error.
    @Test func aSlowScriptThatASignalInterruptsIsAStop() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 100) { ["_id": .integer($0), "name": "Ada"] }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let name = "\(database.name)_slow"
            for filter in [
                #"{"$where": "sleep(500) || true"}"#,
                #"{"$expr": {"$function": {"body": "function() { sleep(500); return true; }", "args": [], "lang": "js"}}}"#,
            ] {
                let run = try await Program.run(
                    try folder.check(database, on: mongod, appName: name) + ["--where", filter]
                ) { program in
                    try await mongod.waitForCommand("find", of: name)
                    program.send(SIGINT)
                }
                #expect(run.exitCode == 75, "\(run.status): \(run.errors)")
                #expect(!run.errors.contains("internal error"), "\(run.errors)")
            }
        }
    }
}
