import Foundation
import Mongo
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests how the process ends: it leaves nothing in shared memory, and a crash prints nothing from its memory.
@Suite struct ProcessEndTests {
    private static let waiting = ["status", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=30000"]

    /// Runs the program with an address on which no server listens, and `body` while the program tries to connect.
    private func whileConnecting(_ body: (LiveProgram) async throws -> Void) async throws -> ProgramRun {
        try await Program.run(Self.waiting, environment: ["MONGOC_DISABLE_SHM": nil]) { program in
            try await waitUntil("it looks for a server") {
                let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.process)/task")
                return tasks.count > 2
            }
            try await body(program)
        }
    }

    @Test(arguments: [SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE])
    func aCrashPrintsNoMemory(_ signal: Int32) async throws {
        let run = try await whileConnecting { $0.send(signal) }
        #expect(run.status == .signaled(signal))
        #expect(run.errors == "")
        #expect(run.output == "")
    }

    @Test func nothingIsLeftInSharedMemory() async throws {
        var process: pid_t = 0
        let run = try await whileConnecting { program in
            process = program.process
            program.send(SIGKILL)
        }
        #expect(run.wasKilled)
        #expect(!FileManager.default.fileExists(atPath: "/dev/shm/mongoc-\(process)"))
    }

    /// The process ends without running the exit functions of libraries.
    ///
    /// The exit functions would free memory that other threads still use to close connections.
    @Test func noLibraryIsTornDownWhileConnectionsClose() async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            let commands = [["job", "tune", "no-such-job", "nice=1"], ["status"]]
            for command in commands {
                let run = try await Program.run(
                    command + ["--uri", mongod.uri, "SHIPSHAPE_STATE_DATABASE=\(database.name)"],
                    environment: [
                        "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": .some(folder.path.appending("linker").string),
                    ])
                #expect([0, 65].contains(run.exitCode), "\(run.errors)")
            }
        }
        let logs = try folder.names.map { try #require(folder.text(of: $0)) }
        #expect(logs.count >= 2)
        for log in logs { #expect(!log.contains("calling fini: /") && !log.contains("calling fini: [0]")) }
    }

    @Test(.timeLimit(.minutes(10))) func anUndoWithoutADeploymentSaysSoInTime() async throws {
        let run = try await Program.run(
            ["undo", "job", "--yes", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=2000"])
        #expect(run.exitCode == 69)
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains("connection refused"))
    }
}
