import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests which events hooks receive, and that no hook can break a run.
@Suite struct HookTests {
    /// Returns the shell command of a hook that appends its input to a file in the folder.
    private func recordingHook(_ folder: FilePath) -> String { "cat >> \(folder.appending("told"))" }

    private func reported(_ folder: FilePath) throws -> [JSONValue] {
        let text = (try? String(contentsOfFile: folder.appending("told").string, encoding: .utf8)) ?? ""
        let shape = try JSONShape("hook")
        return try text.split(separator: "\n").map { line in
            let value = try JSONValue(String(line))
            #expect(shape.defects(of: value) == [])
            return value
        }
    }

    private func all(_ hook: String) -> [String] {
        ["start", "finding", "wait", "stop", "success"].flatMap { ["--on", "\($0)=\(hook)"] }
    }

    @Test func aCheckShowsHowItEnds() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod) + all(recordingHook(folder.path))
            #expect(try await Program.run(arguments).exitCode == 0)
            try await database.fill("person", [["_id": 2]])
            #expect(try await Program.run(arguments).exitCode == 1)
            let unreachable = "mongodb://u:secret@127.0.0.1:1/?serverSelectionTimeoutMS=200"
            let away = arguments.map { $0 == mongod.uri ? unreachable : $0 }
            #expect(try await Program.run(away).exitCode == 69)
            let events = try reported(folder.path)
            #expect(events.compactMap { $0["event"]?.text } == ["start", "success", "start", "finding", "stop"])
            #expect(events.map { $0["exit_code"] } == [.null, .number(0), .null, .number(1), .number(69)])
            #expect(events[3]["message"] == .string("1 document would stop syncing."))
            #expect(events[4]["message"]?.text?.contains("127.0.0.1:1") == true)
            #expect(folder.text(of: "told")?.contains("secret") == false)
        }
    }

    @Test func aBackfillShowsThatItWaits() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: #"pause: "00:00-24:00 UTC""#) { test in
            let run = try await test.backfill(flags: all(recordingHook(test.folder))) { _ in
                try await ThrottleCase.waitForThrottle("pauseWindow", test)
                #expect(try await ThrottleCase.steer("tune", test, "pause=off").exitCode == 0)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let events = try reported(test.folder)
            #expect(events.compactMap { $0["event"]?.text } == ["start", "wait", "success"])
            #expect(events[1]["waiting_for"]?.elements.first?["reason"] == .string("pauseWindow"))
            #expect(events.allSatisfy { $0["name"] == .string("job") })
            // An undo runs the hooks too, as a backfill does.
            let undo = try await Program.run(
                ["undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"]
                    + all(recordingHook(test.folder)))
            #expect(undo.exitCode == 0, "\(undo.errors)")
            #expect(try reported(test.folder).dropFirst(3).compactMap { $0["event"]?.text } == ["start", "success"])
        }
    }

    @Test func aFolderReportsAllItsJobsAtOnce() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "nice: 0") { test in
            try test.job("second", steps: ["default: {field: phone, value: none}"])
            let file = test.folder.appending("m.prom").string
            let run = try await test.backfillFolder(flags: ["--metrics", file] + all(recordingHook(test.folder)))
            #expect(run.exitCode == 0, "\(run.errors)")
            let events = try reported(test.folder)
            #expect(events.compactMap { $0["event"]?.text } == ["start", "success"])
            #expect(events[1]["message"] == .string("2 jobs applied, none is pending."))
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            let labels = "command=\"backfill\",name=\"\(test.folder)\""
            #expect(
                metrics.contains("shipshape_changed_documents{\(labels)} \(2 * ThrottleCase.people)\n"), "\(metrics)")
            #expect(metrics.contains("shipshape_pending_jobs{\(labels)} 0\n"))
        }
    }

    @Test func aDryRunRunsNoHooks() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "nice: 0") { test in
            let run = try await test.backfill(flags: ["--dry-run"] + all(recordingHook(test.folder)), yes: false)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try reported(test.folder).isEmpty)
        }
    }

    /// The hook of the event `start` closes its input and fails; the hook of `success` would run for 1,000 seconds.
    ///
    /// Each of the two hooks causes a warning, and the run still succeeds.
    @Test func aHookThatFailsIsAWarning() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "nice: 0") { test in
            let pid = test.folder.appending("pid").string
            let run = try await test.backfill(flags: [
                "--on", "start=exec <&-; exit 3", "--on", "success=sleep 1000 & echo $! > \(pid); wait",
                "SHIPSHAPE_HOOK_TIMEOUT=1s",
            ])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("warning: the hook --on start ended with exit code 3"), "\(run.errors)")
            #expect(run.errors.contains("warning: the hook --on success did not end within 1s"), "\(run.errors)")
            #expect(try await test.database.count("people", ["email": "none"]) == ThrottleCase.people)
            // The program has also ended the process that the hook had started.
            let child = try #require(Int32(String(contentsOfFile: pid, encoding: .utf8).dropLast()))
            try await waitUntil("the hook's child is gone") { LiveProgram(process: child).hasEnded }
        }
    }

    @Test func noSecretIsPassedOn() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let place = folder.path.appending("variables").string
            try folder.write("on: {success: \"env > \(place)\"}\n", to: "shipshape.yml")
            let run = try await Program.run(
                try folder.check(database, on: mongod),
                environment: ["SHIPSHAPE_PASSWORD": "secret", "SHIPSHAPE_TLS_KEY_PASSWORD": "secret"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            let variables = try #require(folder.text(of: "variables"))
            #expect(variables.contains("SHIPSHAPE_EVENT=success\n") && variables.contains("SHIPSHAPE_COMMAND=check\n"))
            #expect(!variables.contains("secret"), "\(variables)")
        }
    }
}
