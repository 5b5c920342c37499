import Foundation
import Subprocess
import SystemPackage
import Testing

/// What one run of the built program left.
struct ProgramRun: Sendable {
    /// How it ended: an exit code, or the signal that killed it.
    let status: TerminationStatus
    /// Standard output: the result.
    let output: String
    /// Standard error: progress, notices, errors.
    let errors: String

    /// The exit code; `nil` when a signal killed it.
    var exitCode: Int32? { if case .exited(let code) = status { code } else { nil } }

    /// Whether `kill -9` ended it.
    var wasKilled: Bool { status == .signaled(SIGKILL) }
}

/// The program while it runs.
struct LiveProgram: Sendable {
    let process: pid_t

    /// Whether a `SIGSTOP` holds it: the state in `/proc`, behind the name in parentheses.
    var isStopped: Bool {
        get throws {
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return stat.drop { $0 != ")" }.dropFirst(2).first == "T"
        }
    }

    /// Sends a signal; one that is gone already stays gone.
    func send(_ signal: Int32) { _ = kill(process, signal) }
}

/// The executable that this package builds.
enum Program {
    /// It lies beside the test runner.
    static func path() throws -> FilePath {
        let runner = FilePath(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let path = runner.removingLastComponent().appending("shipshape")
        try #require(FileManager.default.isExecutableFile(atPath: path.string), "\(path) is not built")
        return path
    }

    /// Runs it to its end.
    /// - Parameters:
    ///   - fault: where a debug build kills itself, such as `after-write:3`.
    ///   - meanwhile: what the test does beside it; when that fails, the program is killed.
    static func run(
        _ arguments: [String], fault: String? = nil, meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let result = try await Subprocess.run(
            .path(try path()), arguments: Arguments(arguments),
            environment: .inherit.updating([
                "SHIPSHAPE_FAULT": fault, "SHIPSHAPE_URI": nil, "SHIPSHAPE_PASSWORD": nil,
            ]),
            input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        ) { execution in
            let program = LiveProgram(process: execution.processIdentifier.value)
            do {
                try await meanwhile(program)
            } catch {
                program.send(SIGKILL)
                throw error
            }
        }
        return ProgramRun(
            status: result.terminationStatus, output: result.standardOutput, errors: result.standardError)
    }
}
