import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A backfill waits while another program vetoes it.
///
/// The backfill says why it waits, and continues once the veto ends.
@Suite struct VetoTests {
    private static let steps = ["default: {field: email, value: none}"]

    private func withPeople(_ throttle: String, _ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: ThrottleCase.people)
            let place = throttle.replacing("FOLDER", with: test.folder.string)
            try test.job(steps: Self.steps, limits: "{chunk: {documents: 10}}", more: "throttle: \(place)")
            try await body(test)
        }
    }

    @Test func aCommandHoldsUntilItEndsWith0() async throws {
        try await withPeople("{command: \"test -e FOLDER/go\"}") { test in
            try await ThrottleCase.expectWait("veto", "veto by the job's command", test) {
                let status = try await ThrottleCase.steer("status", test)
                #expect(status.output.contains("veto by the job's command: ended with exit code 1"), "\(status.output)")
                try test.write("go", "")
            }
        }
    }

    @Test func aURLHoldsUntilItAnswers200() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await Answering.serving(in: folder) { port in
            try folder.write("503", to: "status")
            try await withPeople("{http: \"http://127.0.0.1:\(port)/ready?token=hidden\"}") { test in
                let run = try await ThrottleCase.expectWait("veto", "veto by 127.0.0.1", test) {
                    let waiting = try await ThrottleCase.waiting(test)
                    #expect(waiting.contains { $0["value"] == "answered 503" }, "\(waiting)")
                    try folder.write("200", to: "status")
                }
                #expect(!run.errors.contains("hidden") && !run.output.contains("hidden"))
                #expect(folder.text(of: "path") == "/ready?token=hidden")
            }
        }
    }

    /// The run waits if a veto's URL gives no answer or another status than 200, or if a veto's command is too slow or
    /// is killed.
    @Test(arguments: [
        ("{http: \"http://127.0.0.1:1/\"}", "no answer (Failed to connect"),
        ("{http: \"http://127.0.0.1:PORT/slow\", timeout: 300ms}", "no answer ("),
        ("{http: \"http://127.0.0.1:PORT/moved\"}", "answered 302"),
        ("{command: \"sleep 100\", timeout: 300ms}", "did not end within 300ms"),
        ("{command: \"kill -9 $$\"}", "was ended by signal 9"),
    ])
    func whateverElseIsSaidHolds(_ throttle: String, _ reason: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await Answering.serving(in: folder) { port in
            try await withPeople(throttle.replacing("PORT", with: "\(port)")) { test in
                let run = try await test.backfill { program in
                    try await ThrottleCase.waitForThrottle("veto", test)
                    program.send(SIGTERM)
                }
                #expect(run.exitCode == 75, "\(run.errors)")
                #expect(run.errors.contains("waiting: veto by") && run.errors.contains(reason), "\(run.errors)")
                #expect(run.output.contains(reason), "\(run.output)")
                #expect(try await test.database.count("people", ["email": "none"]) == 0)
            }
        }
    }

    /// The runner renews its lease while it waits for the answer of a veto, which takes longer than the lease lasts.
    ///
    /// At the end of the test, a signal ends the run before the answer arrives.
    @Test func theLeaseIsKeptWhileAnAnswerIsWaitedFor() async throws {
        try await withPeople("{command: \"touch FOLDER/asked; sleep 60\", timeout: 60s}") { test in
            let run = try await test.backfill(flags: ["SHIPSHAPE_LEASE_TTL=1s"]) { program in
                try await waitUntil("it is asked") {
                    FileManager.default.fileExists(atPath: test.folder.appending("asked").string)
                }
                let before = try await test.checkpoint()?.holder?["end"]
                try await waitUntil("the lease is renewed") {
                    try await test.checkpoint()?.holder?["end"] != before
                }
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(run.output.contains("stopped by a signal"), "\(run.output)")
        }
    }

    /// When a veto command ends, the program also ends the processes that the command started, even if they ignore
    /// SIGTERM.
    @Test(arguments: ["exit 0", "sleep 600", "kill -9 $$"])
    func theProcessesThatACommandStartsEndWithIt(_ end: String) async throws {
        let script = """
            (trap '' TERM HUP; echo $BASHPID >>"$1"; while :; do sleep 1; done) &
            until [ -s "$1" ]; do sleep 0.01; done
            \(end)
            """
        try await withPeople("{command: \"exec bash FOLDER/ask.sh FOLDER/children\", timeout: 2s}") { test in
            try test.write("ask.sh", script)
            let run = try await test.backfill { program in
                guard end != "exit 0" else { return }
                try await ThrottleCase.waitForThrottle("veto", test)
                program.send(SIGTERM)
            }
            #expect(run.exitCode == (end == "exit 0" ? 0 : 75), "\(run.errors)")
            let children = try String(contentsOfFile: test.folder.appending("children").string, encoding: .utf8)
                .split(separator: "\n").compactMap { pid_t($0) }
            #expect(!children.isEmpty)
            for child in children { #expect(LiveProgram(process: child).hasEnded) }
        }
    }

    @Test func neitherADryRunNorAnUndoAsks() async throws {
        try await withPeople("{command: \"echo >> FOLDER/asked\"}") { test in
            func asked() -> Bool { FileManager.default.fileExists(atPath: test.folder.appending("asked").string) }
            #expect(try await test.backfill("job", "--dry-run", yes: false).exitCode == 0)
            #expect(!asked())
            #expect(try await test.backfill().exitCode == 0)
            #expect(asked())
            try FileManager.default.removeItem(atPath: test.folder.appending("asked").string)
            let undo = try await Program.run(
                ["undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
            #expect(undo.exitCode == 0, "\(undo.errors)")
            #expect(!asked())
        }
    }
}

/// A web server that answers requests with the status that a file contains; a few paths have answers of their own.
private enum Answering {
    private static let script = """
        const fs = require("fs"), path = require("path"), folder = process.argv[2];
        const server = require("http").createServer((request, response) => {
          fs.writeFileSync(path.join(folder, "path"), request.url);
          if (request.url == "/slow") return;
          if (request.url == "/moved") { response.writeHead(302, { Location: "/" }); return response.end(); }
          response.statusCode = Number(fs.readFileSync(path.join(folder, "status"), "utf8"));
          response.end();
        });
        server.listen(0, "127.0.0.1", () => {
          fs.writeFileSync(path.join(folder, "port.part"), String(server.address().port));
          fs.renameSync(path.join(folder, "port.part"), path.join(folder, "port"));
        });
        """

    /// Runs the web server while `body` runs.
    ///
    /// `body` receives the server's port.
    static func serving(in folder: CommandLineFolder, _ body: (Int) async throws -> Void) async throws {
        let script = try folder.write(script, to: "server.js")
        _ = try await Subprocess.run(
            .path("/usr/bin/node"), arguments: [script, folder.path.string], input: .none, output: .discarded,
            error: .discarded
        ) { execution in
            defer { try? execution.send(signal: .kill) }
            try await waitUntil("the server listens") { folder.text(of: "port") != nil }
            try await body(try #require(folder.text(of: "port").flatMap { Int($0) }))
        }
    }
}
