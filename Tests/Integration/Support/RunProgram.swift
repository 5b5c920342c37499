import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// The result of one run of the built program.
struct ProgramRun: Sendable {
    /// How the run ended: an exit code, or the signal that killed the program.
    let status: TerminationStatus
    /// The standard output of the run, which holds the result.
    let output: String
    /// The standard error of the run, with progress, notes and errors.
    let errors: String

    /// The exit code, or `nil` if a signal killed the program.
    var exitCode: Int32? { if case .exited(let code) = status { code } else { nil } }

    /// Whether `kill -9` ended the program.
    var wasKilled: Bool { status == .signaled(SIGKILL) }

    /// The lines of standard error.
    var errorLines: [Substring] { errors.split(separator: "\n") }
}

/// The program while it runs.
struct LiveProgram: Sendable {
    let process: pid_t

    /// The letter of the process's state, which follows the process's name in parentheses in `/proc/PID/stat`.
    private var state: Character? {
        get throws {
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return stat.drop { $0 != ")" }.dropFirst(2).first
        }
    }

    /// Whether a `SIGSTOP` has stopped the program.
    var isStopped: Bool { get throws { try state == "T" } }

    /// Whether the process is gone, or is a zombie with only an exit status.
    var hasEnded: Bool {
        guard let state = try? state else { return true }
        return state == "Z" || state == "X"
    }

    /// Sends a signal to the process; nothing happens if the process is gone.
    func send(_ signal: Int32) { _ = kill(process, signal) }
}

/// The built program, run as a user runs it.
enum Program {
    /// The path of the program, which is next to the test runner.
    static var path: FilePath {
        get throws {
            let runner = FilePath(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            let path = runner.removingLastComponent().appending("shipshape")
            try #require(FileManager.default.isExecutableFile(atPath: path.string), "\(path) is not built")
            return path
        }
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: the words of the command line. As in a shell, a word such as `SHIPSHAPE_LEDGER=none` sets an
    ///     environment variable.
    ///   - environment: variables in addition to the inherited ones. The inherited `SHIPSHAPE_URI` and
    ///     `SHIPSHAPE_PASSWORD` are removed.
    ///   - folder: the working directory.
    ///   - fault: the point at which a build with fault injection kills or stops itself, such as `after-write:3`.
    ///   - plant: the bug that a build with fault injection injects into itself, such as `no-needs`.
    ///   - held: whether the program is stopped before its first instruction, until `during` sends `SIGCONT`.
    ///   - during: the test's actions during the run; if they fail, the program is killed.
    static func run(
        _ arguments: [String], environment: [Environment.Key: String?] = [:], in folder: FilePath? = nil,
        fault: String? = nil, plant: String? = nil, held: Bool = false,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let added = environment.merging(["SHIPSHAPE_FAULT": fault, "SHIPSHAPE_PLANT": plant]) { own, _ in own }
        let path = try path
        guard held else {
            return try await run(.path(path), arguments, environment: added, in: folder, during: during)
        }
        let hold = ["-c", #"kill -STOP $$; exec "$0" "$@""#, path.string]
        return try await run(
            .path("/bin/sh"), hold + arguments, environment: added, in: folder, during: during)
    }

    /// Runs the program from a shell script, whose `$0` is the program and whose `$1`… are the arguments.
    static func shell(
        _ script: String, _ arguments: [String], in folder: FilePath? = nil,
        environment: [Environment.Key: String?] = [:]
    ) async throws -> ProgramRun {
        try await run(
            .path("/bin/bash"), ["-c", script, try path.string] + arguments, environment: environment, in: folder)
    }

    /// Runs the program on a terminal, and types an answer as soon as the program asks a question.
    /// - Parameters:
    ///   - question: the text by which the test recognizes the question on the terminal.
    ///   - input: the text to type, as `printf` writes it.
    ///   - folder: the working directory.
    static func atTerminal(
        _ arguments: [String], askedFor question: String, types input: String, in folder: FilePath? = nil
    ) async throws -> ProgramRun {
        // The input stays open until the program ends, as it does on a real terminal.
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
        return try await shell(script, [question, input] + arguments, in: folder)
    }

    private static func run(
        _ executable: Executable, _ arguments: [String], environment: [Environment.Key: String?] = [:],
        in folder: FilePath? = nil, during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        var failure: (any Error)?
        let (words, variables) = separated(arguments)
        let result = try await Subprocess.run(
            executable, arguments: Arguments(words),
            environment: bare.updating(environment).updating(variables),
            workingDirectory: folder, input: .none, output: .string(limit: 4 << 20), error: .string(limit: 4 << 20)
        ) { execution in
            let program = LiveProgram(process: execution.processIdentifier.value)
            do {
                try await during(program)
            } catch {
                program.send(SIGKILL)
                failure = error
            }
        }
        if let failure {
            throw TestSupportError(
                "\(failure)\nThe program ended with \(result.terminationStatus): \(result.standardError)")
        }
        let run = ProgramRun(
            status: result.terminationStatus, output: result.standardOutput, errors: result.standardError)
        if !run.wasKilled { try JSONShape.check(run, arguments) }
        return run
    }

    /// Separates the words that set a variable, such as `SHIPSHAPE_LEDGER=none`, from the other words.
    private static func separated(_ words: [String]) -> (words: [String], variables: [Environment.Key: String?]) {
        var (rest, variables): ([String], [Environment.Key: String?]) = ([], [:])
        for word in words {
            // A whole command line, as pages show it, is for the shell.
            if !word.contains(" shipshape "),
                let match = word.prefixMatch(of: /(SHIPSHAPE_[A-Z_]+|NO_COLOR|FORCE_COLOR)=/)
            {
                variables.updateValue(
                    String(word[match.range.upperBound...]), forKey: Environment.Key(stringLiteral: String(match.1)))
            } else {
                rest.append(word)
            }
        }
        return (rest, variables)
    }

    private static var bare: Environment {
        .inherit.updating([
            "SHIPSHAPE_URI": nil, "SHIPSHAPE_PASSWORD": nil, "NO_COLOR": nil, "FORCE_COLOR": nil,
            // A killed process leaves libmongoc's counters in shared memory, and the library complains about them when
            // it is loaded into a later process with the same id.
            "MONGOC_DISABLE_SHM": "1",
        ])
    }
}
