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

    /// The lines of standard error.
    var errorLines: [Substring] { errors.split(separator: "\n") }
}

/// The program while it runs.
struct LiveProgram: Sendable {
    let process: pid_t

    /// The letter of its state in `/proc`, behind the name in parentheses.
    private var state: Character? {
        get throws {
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return stat.drop { $0 != ")" }.dropFirst(2).first
        }
    }

    /// Whether a `SIGSTOP` holds it.
    var isStopped: Bool { get throws { try state == "T" } }

    /// Whether it is gone, or nothing but its status is left of it.
    var hasEnded: Bool {
        guard let state = try? state else { return true }
        return state == "Z" || state == "X"
    }

    /// Sends a signal; one that is gone already stays gone.
    func send(_ signal: Int32) { _ = kill(process, signal) }
}

/// The built program, run as a user runs it.
enum Program {
    /// It lies beside the test runner.
    static var path: FilePath {
        get throws {
            let runner = FilePath(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            let path = runner.removingLastComponent().appending("shipshape")
            try #require(FileManager.default.isExecutableFile(atPath: path.string), "\(path) is not built")
            return path
        }
    }

    /// Runs it to its end.
    /// - Parameters:
    ///   - environment: what is added to an environment that names no deployment.
    ///   - folder: where it runs.
    ///   - fault: where a debug build kills itself, such as `after-write:3`.
    ///   - plant: what a debug build does wrong on purpose, such as `no-fence`.
    ///   - held: whether it is stopped before its first instruction, until `meanwhile` sends `SIGCONT`.
    ///   - meanwhile: what the test does beside it; when that fails, the program is killed.
    static func run(
        _ arguments: [String], environment: [Environment.Key: String?] = [:], in folder: FilePath? = nil,
        fault: String? = nil, plant: String? = nil, held: Bool = false,
        meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let added = environment.merging(["SHIPSHAPE_FAULT": fault, "SHIPSHAPE_PLANT": plant]) { own, _ in own }
        let path = try path
        guard held else {
            return try await run(.path(path), arguments, environment: added, in: folder, meanwhile: meanwhile)
        }
        let hold = ["-c", #"kill -STOP $$; exec "$0" "$@""#, path.string]
        return try await run(
            .path("/bin/sh"), hold + arguments, environment: added, in: folder, meanwhile: meanwhile)
    }

    /// Runs it by way of a shell, whose `$0` is the program and whose `$1`… are the arguments.
    static func shell(_ script: String, _ arguments: [String]) async throws -> ProgramRun {
        try await run(.path("/bin/bash"), ["-c", script, try path.string] + arguments)
    }

    /// Runs it at a terminal, and types as soon as it asks.
    /// - Parameters:
    ///   - question: what the terminal shows when the program waits for an answer.
    ///   - input: what is typed, as `printf` writes it.
    static func atTerminal(_ arguments: [String], askedFor question: String, types input: String) async throws
        -> ProgramRun
    {
        // The input stays open until the program ends: a terminal does not hang up on who thinks for a while.
        let script = #"""
            folder=$(mktemp -d) && trap 'rm -r "$folder"' EXIT && mkfifo "$folder/keys" || exit
            question=$1 input=$2; shift 2
            script -qec "$(printf '%q ' "$0" "$@")" /dev/null <"$folder/keys" >"$folder/screen" &
            exec 3>"$folder/keys"
            until grep -qF "$question" "$folder/screen" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
            printf "$input" >&3
            wait $!; status=$?
            cat "$folder/screen"
            exit $status
            """#
        return try await shell(script, [question, input] + arguments)
    }

    private static func run(
        _ executable: Executable, _ arguments: [String], environment: [Environment.Key: String?] = [:],
        in folder: FilePath? = nil, meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let result = try await Subprocess.run(
            executable, arguments: Arguments(arguments), environment: bare.updating(environment),
            workingDirectory: folder, input: .none, output: .string(limit: 4 << 20), error: .string(limit: 4 << 20)
        ) { execution in
            let program = LiveProgram(process: execution.processIdentifier.value)
            do {
                try await meanwhile(program)
            } catch {
                program.send(SIGKILL)
                throw error
            }
        }
        let run = ProgramRun(
            status: result.terminationStatus, output: result.standardOutput, errors: result.standardError)
        if !run.wasKilled { try JSONShape.check(run, arguments) }
        return run
    }

    private static var bare: Environment {
        .inherit.updating([
            "SHIPSHAPE_URI": nil, "SHIPSHAPE_PASSWORD": nil, "NO_COLOR": nil,
            // A process that was killed leaves libmongoc's counters in shared memory, and the library complains about
            // them while it is loaded into a later process of the same id.
            "MONGOC_DISABLE_SHM": "1",
        ])
    }
}
