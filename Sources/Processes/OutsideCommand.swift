internal import Concurrency
internal import Foundation
internal import Subprocess
internal import SystemPackage

/// A command of the user that runs as a separate process, with a time limit and without the program's own
/// `SHIPSHAPE_…` variables.
///
/// The process has its own session, so that keys pressed at the program's terminal do not end it. When the process
/// ends, the remaining processes of its process group are killed.
package struct OutsideCommand: Sendable {
    /// The end of a command: its exit code, or the reason why it has no exit code.
    package enum Outcome: Sendable, Hashable, CustomStringConvertible {
        case exited(Int32)
        case signaled(Int32)
        case outOfTime(Duration)
        case notRun(String)

        package var isSuccess: Bool { self == .exited(0) }

        /// A clause that says how the command ended.
        package var description: String {
            switch self {
            case .exited(let code): "ended with exit code \(code)"
            case .signaled(let signal): "was ended by signal \(signal)"
            case .outOfTime(let limit): "did not end within \(limit.text)"
            case .notRun(let reason): "could not be run: \(reason)"
            }
        }
    }

    private let executable: Executable
    private let arguments: [String]

    /// Creates a command that the shell runs.
    package init(shell command: String) { (executable, arguments) = (.path("/bin/sh"), ["-c", command]) }

    /// Creates a command that runs a program from `PATH`.
    package init(_ program: String, _ arguments: [String]) {
        (executable, self.arguments) = (.name(program), arguments)
    }

    /// Runs the command, whose output goes to this process's standard error.
    /// - Parameters:
    ///   - input: the text that the command reads from its standard input.
    ///   - variables: the variables to add to the command's environment. The command gets no other `SHIPSHAPE_…`
    ///     variable.
    package func run(
        input: String = "", variables: [String: String] = [:], timeLimit: Duration
    ) async -> Outcome {
        await run(input, variables, timeLimit, .currentStandardError, .currentStandardError).outcome
    }

    /// Runs the command, and returns an answer from its standard output; its standard error is discarded.
    /// - Returns: how the command ended, and its standard output. If the output has more than 1,024 bytes, the outcome
    ///   is `notRun`.
    package func ask(input: String = "", timeLimit: Duration) async -> (outcome: Outcome, answer: String) {
        let (outcome, answer) = await run(input, [:], timeLimit, .string(limit: 1_024), .discarded)
        return (outcome, answer ?? "")
    }

    /// Runs the command and discards its output.
    package func runSilently(timeLimit: Duration) async -> Outcome {
        await run("", [:], timeLimit, .discarded, .discarded).outcome
    }

    private func run<Output: OutputProtocol>(
        _ input: String, _ variables: [String: String], _ timeLimit: Duration, _ output: Output,
        _ error: some ErrorOutputProtocol
    ) async -> (outcome: Outcome, answer: Output.OutputType?) {
        await withTaskGroup(of: (Outcome, Output.OutputType?).self) { group in
            group.addTask {
                do {
                    let result = try await Subprocess.run(
                        executable, arguments: Arguments(arguments), environment: Self.environment(with: variables),
                        platformOptions: Self.options,
                        input: .fileDescriptor(
                            try Self.pipe(holding: input), closeAfterSpawningProcess: true),
                        output: output, error: error
                    ) { await Self.killGroup(at: $0.processIdentifier.value) }
                    return (Outcome(result.terminationStatus), result.standardOutput)
                } catch {
                    return (.notRun("\(error)"), nil)
                }
            }
            group.addTask {
                try? await Task.sleep(for: timeLimit)
                return (.outOfTime(timeLimit), nil)
            }
            let first = await group.next()
            // This cancels the task that still runs, which is the timer or the command.
            group.cancelAll()
            return first ?? (.outOfTime(timeLimit), nil)
        }
    }

    /// Waits until a process ends, and then kills the remaining processes of its group.
    ///
    /// Until this function returns, the process is not reaped, so that no other process group can get its id.
    private static func killGroup(at process: pid_t) async {
        await onOwnedThread(name: "command") {
            var end = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            _ = kill(-process, SIGKILL)
        }
    }

    private static func environment(with variables: [String: String]) -> Environment {
        let own = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("SHIPSHAPE_") }
        let none = own.map { ($0, String?.none) }
        let added = variables.map { ($0.key, String?.some($0.value)) }
        return .inherit.updating(
            Dictionary((none + added).map { (Environment.Key(stringLiteral: $0), $1) }) { _, last in last })
    }

    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        return options
    }

    /// Returns the reading end of a pipe that already contains a text.
    ///
    /// The pipe is filled before the command starts. Otherwise, a write to a pipe that the command has closed would end
    /// this process.
    /// - Throws: ``Errno``, also if the text does not fit into a pipe.
    private static func pipe(holding text: String) throws -> FileDescriptor {
        let (reading, writing) = try FileDescriptor.pipe()
        defer { try? writing.close() }
        _ = fcntl(writing.rawValue, F_SETFL, O_WRONLY | O_NONBLOCK)
        do { _ = try writing.writeAll(text.utf8) } catch {
            try? reading.close()
            throw error
        }
        return reading
    }
}

extension OutsideCommand.Outcome {
    fileprivate init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code)
        case .signaled(let signal): self = .signaled(signal)
        }
    }
}
