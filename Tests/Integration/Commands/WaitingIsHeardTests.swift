import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests what a user sees of a run that waits or stops: `--quiet` hides no wait for a lease, and a signal stops a
/// command that still looks for a server.
@Suite struct WaitingIsHeardTests {
    private static let nowhere = ["--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=60000"]
    private static let connecting: [[String]] = [
        ["status"], ["check", "person.json", "--collection", "app.person"],
        ["schema", "infer", "--collection", "app.person"],
        ["ledger", "show"], ["backfill", "job.yml", "--yes"], ["backfill", "jobs", "--yes"], ["undo", "j", "--yes"],
        ["ledger", "follow", "person.json", "--collection", "app.person"],
    ]

    @Test(arguments: connecting, [SIGTERM, SIGHUP, SIGQUIT])
    func aSignalWhileAServerIsLookedForStopsTheCommand(_ command: [String], _ signal: Int32) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let job = "job: j\ncollection: app.person\nsteps:\n  - default: {field: email, value: \"\"}\n"
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(job, to: "job.yml")
        try folder.write(job, to: "jobs/job.yml")
        let run = try await Program.run(command + Self.nowhere, in: folder.path) { program in
            try await waitUntil("it looks for a server") {
                let tasks = "/proc/\(program.process)/task"
                let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
                    try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
                }
                // The program starts threads with these names only after it listens for signals. It starts other
                // threads earlier, when it checks how many the system allows.
                return names.contains { $0.map { $0.hasPrefix("preflight") || $0.hasPrefix("hello") } ?? false }
            }
            program.send(signal)
        }
        #expect(run.exitCode == 75, "\(run.status) \(run.errors)")
        #expect(run.errors.contains("stopped by a signal"), "\(run.errors)")
    }

    /// Runs a test with a job whose lease belongs to a runner on another host; the test has to end that lease.
    private func withHeld(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 30)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try #require(try await test.backfill("job", "SHIPSHAPE_LEDGER=none").exitCode == 0)
            try await test.database.fill("people", [["_id": 1_000]])
            try await test.state.run([
                "update": "ranges",
                "updates": [
                    [
                        "q": ["_id.job": "job"],
                        "u": [
                            [
                                "$set": [
                                    "lease": [
                                        "owner": .objectID(ObjectID(high: 7, low: 7)), "host": "elsewhere", "boot": "x",
                                        "process": 7,
                                        "token": 99, "start": "$$NOW",
                                        "end": ["$add": ["$$NOW", 600_000]],
                                    ]
                                ]
                            ]
                        ],
                    ]
                ],
            ])
            try await body(test)
        }
    }

    /// Runs the job, and ends the other runner's lease after the job has asked for the lease.
    private func afterAWait(of test: BackfillCase, _ flags: String...) async throws -> ProgramRun {
        try await test.state.run(["profile": 2])
        return try await test.backfill("job", flags: ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_WAIT=500s"] + flags) {
            _ in
            try await waitUntil("the lease is asked for") {
                try await test.state.count(
                    "system.profile",
                    ["command.findAndModify": "ranges", "nModified": ["$ne": 1], "appName": .string(test.appName)])
                    > 0
            }
            try await test.endLease(of: "job")
        }
    }

    @Test func quietHidesNoWait() async throws {
        try await withHeld { test in
            let run = try await afterAWait(of: test, "--quiet")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                run.errors.contains(" job: waiting up to 500 s for the lease of process 7 on host elsewhere"),
                "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ["$exists": false]]) == 0)
        }
    }

    @Test func aSecondRunnerIsRefusedBeforeItReadsTheCollection() async throws {
        try await withHeld { test in
            try await test.database.run(["profile": 2])
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none")
            try await test.database.run(["profile": 0])
            #expect(run.exitCode == 76, "\(run.errors)")
            #expect(run.errors.contains("is held by process 7 on host elsewhere"), "\(run.errors)")
            let reads = try await test.database.count(
                "system.profile",
                [
                    "appName": .string(test.appName), "ns": .string("\(test.database.name).people"),
                    "command.aggregate": "people",
                    "command.pipeline.0.$collStats": ["$exists": false],
                ])
            #expect(reads == 0)
        }
    }

    @Test func linesCarryTimeAndJobAndMayBeJSON() async throws {
        try await withHeld { test in
            let run = try await afterAWait(of: test, "SHIPSHAPE_LOG_FORMAT=json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let records = try run.errorLines.map { try BSONDocument(extendedJSON: String($0)) }
            let wait = try #require(records.first { $0["message"]?.text?.contains("waiting up to") == true })
            #expect(wait["job"]?.text == "job" && wait["level"]?.text == "notice")
            #expect(wait["time"]?.text?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/) != nil)
            let failed = try await Program.run([
                "status", "SHIPSHAPE_LOG_FORMAT=json", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=1000",
            ])
            #expect(failed.exitCode == 69)
            let error = try BSONDocument(extendedJSON: failed.errors)
            #expect(error["level"]?.text == "error" && error["message"]?.text?.hasPrefix("shipshape: ") == true)
        }
    }

    @Test func statusDistinguishesProvisionalFiguresFromFinalOnes() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 50)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 5}}")
            let stopped = try await test.stoppedHalfway(flags: ["SHIPSHAPE_LEDGER=none"])
            try #require(stopped.exitCode == 75, "\(stopped.errors)")
            let status = ["status", "job", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"]
            #expect(try await Program.run(status).output.contains("changed so far (provisional)"))
            try #require(try await test.backfill("job", "SHIPSHAPE_LEDGER=none").exitCode == 0)
            let done = try await Program.run(status)
            #expect(done.output.contains("50 changed") && !done.output.contains("provisional"), "\(done.output)")
        }
    }
}
