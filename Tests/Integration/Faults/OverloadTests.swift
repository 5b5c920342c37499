import BSON
import Foundation
import Glibc
import JobState
import SystemPackage
import TestSupport
import Testing

/// Commands wait while the server refuses requests because of overload, so no command fails and no document is skipped.
@Suite(.serialized) struct OverloadTests {
    /// A server for this suite alone, because a server has only one fail point at a time.
    ///
    /// On a shared server, these tests would have to wait for other suites' fail points.
    private static let server = Task { try await Mongod.start() }

    /// The commands that the server refuses in the tests.
    private static let commands = [
        "find", "aggregate", "getMore", "count", "distinct", "update", "insert", "delete", "findAndModify", "ping",
        "listCollections", "listIndexes", "listDatabases", "createIndexes", "create", "collMod", "drop",
        "killCursors", "serverStatus", "replSetGetStatus", "connectionStatus", "getParameter", "buildInfo",
        "commitTransaction", "abortTransaction", "killSessions",
    ]

    /// The way in which a server reports overload: by error code 462, or by error labels.
    enum Refusal: CaseIterable, CustomTestStringConvertible {
        case coded, labelled

        var testDescription: String { "\(self)" }

        func point(_ commands: [String], _ mode: FailPoint.Mode, of appName: String) -> FailPoint {
            var point = FailPoint(appName: appName, mode: mode)
            point.commands = commands
            // Error code 8 does not mean overload by itself; the labels of the error do.
            point.errorCode = self == .coded ? 462 : 8
            point.errorLabels = self == .coded ? [] : ["SystemOverloadedError", "RetryableError"]
            return point
        }
    }

    /// The server refuses each request of the program with a probability of 30 %.
    ///
    /// The outcome is the same as without refusals.
    @Test(arguments: FaultSubject.all, Refusal.allCases)
    func everyCommandIsRefusedNowAndThen(_ subject: FaultSubject, _ refusal: Refusal) async throws {
        let mongod = try await Self.server.value
        try await subject.trial(mongod) { other in
            let undisturbed = try await other.undisturbed()
            try await subject.trial(mongod) { trial in
                let name = "\(trial.database.name)_overload"
                let point = refusal.point(Self.commands, .probability(0.3), of: name)
                let run = try await mongod.failing(point) { try await trial.run(by: mongod.uri(appName: name)) }
                #expect([0, 1].contains(run.exitCode), "\(run.status): \(run.errors)")
                #expect(try await trial.outcome(run) == undisturbed)
                #expect(!(run.errors + run.output).contains("skipped"), "\(run.errors)\(run.output)")
            }
        }
    }

    private static let doctor = RoleCase.Command(grants: [], arguments: ["doctor"], subject: "person.json")

    /// The commands that use the server and that no test with ``FaultSubject`` runs with the same flags.
    ///
    /// At the scales `full` and `torture`, the list contains all commands that use the server.
    private static let others = (RoleCase.commands + [doctor]).filter { command in
        let tried: Set = ["check", "infer", "enforce", "backfill", "undo", "follow", "init", "mirror"]
        let name = command.arguments[["partner", "schema", "ledger"].contains(command.arguments[0]) ? 1 : 0]
        return TestScale.pick(false, full: true, torture: true) || !tried.contains(name)
            || command.arguments.contains { ["--part", "--history", "--dry-run", "--count-groups"].contains($0) }
    }

    /// Each command of ``others`` ends with the same exit code, whether or not the server refuses some of its requests.
    @Test(arguments: others) func everyOtherCommandWaitsToo(_ command: RoleCase.Command) async throws {
        let mongod = try await Self.server.value
        try await Mongod.withRoles(on: mongod) { test in
            try await test.precede(command)
            let undisturbed = try await test.run(command, by: mongod.uri)
            #expect(undisturbed.exitCode.map(command.exitCodes.contains) == true, "\(undisturbed.errors)")
            try await test.load()
            try await test.precede(command)
            let name = "\(test.database.name)_overload"
            let point = Refusal.coded.point(Self.commands, .probability(0.3), of: name)
            let run = try await mongod.failing(point) { try await test.run(command, by: mongod.uri(appName: name)) }
            #expect(run.exitCode == undisturbed.exitCode, "\(run.status): \(run.errors)")
            #expect(!(run.errors + run.output).contains("skipped"), "\(run.errors)\(run.output)")
        }
    }

    /// Subcommands that read or change a job's state wait for an overloaded server instead of failing.
    @Test func steeringWaits() async throws {
        let mongod = try await Self.server.value
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: 50)
            try test.job(steps: ["default: {field: email, value: none}"], limits: "{chunk: {documents: 10}}")
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let point = Refusal.coded.point(Self.commands, .probability(0.3), of: test.appName)
            try await mongod.failing(point) {
                for words in [
                    ["status", "job"], ["job", "pause", "job"], ["job", "resume", "job"],
                    ["job", "tune", "job", "nice=0"],
                    ["status"],
                ] {
                    let run = try await Program.run(
                        words + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
                    #expect([0, 1].contains(run.exitCode), "\(words): \(run.errors)")
                }
                let rest = try await test.backfill()
                #expect(rest.exitCode == 0, "\(rest.errors)")
                for words in [["undo", "job", "--yes"], ["job", "cleanup", "job", "--yes"]] {
                    let run = try await Program.run(
                        words + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
                    #expect([0, 1].contains(run.exitCode), "\(words): \(run.errors)")
                }
            }
            #expect(try await test.database.count("people", ["email": "none"]) == 0)
        }
    }

    /// The server refuses all updates for a while.
    ///
    /// The run waits, says why, keeps its lease, and does not halve its chunks.
    @Test(arguments: Refusal.allCases) func aRunWaitsAndSaysWhy(_ refusal: Refusal) async throws {
        try await ThrottleCase.withPeople(on: try await Self.server.value, limits: "concurrency: 2") { test in
            let reported = test.folder.appending("told").string
            let point = refusal.point(["update"], .always, of: test.appName)
            let run = try await test.backfill(
                flags: ["SHIPSHAPE_LEASE_TTL=4s", "--on", "wait=cat >> \(reported)", "--metrics", "\(reported).prom"],
                fault: "before-write:2:stop"
            ) { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                let before = try #require(try await test.checkpoint())
                try await test.mongod.failing(point) {
                    program.send(SIGCONT)
                    try await ThrottleCase.waitForThrottle("overload", test)
                    // Between two waits, the run tries again for a moment.
                    try await waitUntil("status says why the run waits") {
                        let status = try await Program.run([
                            "status", "job", "--uri", test.mongod.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                        ])
                        return status.output.contains("the server sheds load")
                    }
                    try await waitUntil("the lease was renewed twice") {
                        let end = try await test.checkpoint()?.holder?["end"]
                        guard case .date(let now)? = end, case .date(let then)? = before.holder?["end"] else {
                            return false
                        }
                        return now > then + 4_000
                    }
                    #expect(try await test.checkpoint()?.chunks == before.chunks)
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("waiting: the server sheds load"), "\(run.errors)")
            #expect(run.errors.contains("continuing after"), "\(run.errors)")
            #expect(!run.errors.contains("continuing with"), "no chunk is halved: \(run.errors)")
            #expect(run.output.contains("the server sheds load"), "\(run.output)")
            #expect(try await test.database.count("people", ["email": "none"]) == ThrottleCase.people)
            #expect(try await ThrottleCase.waiting(test).isEmpty)
            let line = try #require(String(contentsOfFile: reported, encoding: .utf8).split(separator: "\n").first)
            let hook = try JSONValue(String(line))
            #expect(hook["waiting_for"]?.elements.first?["reason"] == .string("overload"))
            let metrics = try String(contentsOfFile: "\(reported).prom", encoding: .utf8)
            #expect(metrics.contains("reason=\"overload\""), "\(metrics)")
        }
    }

    /// A run that waits for an overloaded server ends at a signal or at the end of its time budget, and can be resumed.
    @Test func aWaitObeysASignalAndTheTimeBudget() async throws {
        let mongod = try await Self.server.value
        try await ThrottleCase.withPeople(on: mongod, limits: "nice: 0") { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let isRefused = Refusal.coded.point(["update", "find", "aggregate"], .always, of: test.appName)
            let budget = try await mongod.failing(isRefused) {
                try await test.backfill("job") { program in
                    try await Task.sleep(for: .seconds(4))
                    program.send(SIGTERM)
                }
            }
            #expect(budget.exitCode == 75, "\(budget.errors)")
            try await test.endLease(of: "job")
            let updates = Refusal.coded.point(["update"], .always, of: test.appName)
            let ended = try await mongod.failing(updates) { try await test.backfill("job", "--max-runtime", "2s") }
            #expect(ended.exitCode == 75, "\(ended.errors)")
            #expect(ended.errors.contains("--max-runtime"), "\(ended.errors)")
        }
    }

    /// An error with a code that the program does not know ends the run.
    ///
    /// No document is skipped because of it.
    @Test(arguments: ["update", "aggregate"]) func anUnknownErrorBlamesNoDocument(_ command: String) async throws {
        try await ThrottleCase.withPeople(on: try await Self.server.value, limits: "nice: 0") { test in
            var point = FailPoint.error(499, command, appName: test.appName)
            point.namespace = "\(test.database.name).people"
            let run = try await test.mongod.failing(point) { try await test.backfill() }
            #expect(run.exitCode == 69, "\(run.status): \(run.errors)\(run.output)")
            #expect(try await test.state.count("failed") == 0)
        }
    }
}
