internal import Processes
internal import Synchronization

/// Runs the operator's shell commands for events, one command after the other, while the run continues.
///
/// A command that fails causes a warning.
final class Hooks: Sendable {
    private let timeLimit: Duration
    /// The task that runs the last command, after it has waited for the task of the previous one.
    private let last = Mutex<Task<Void, Never>?>(nil)

    init(timeLimit: Duration) { self.timeLimit = timeLimit }

    /// Runs a command in a shell after the earlier commands have ended; returns at once, and does not wait for the
    /// command.
    /// - Parameters:
    ///   - name: the name of the hook in a warning, such as `--on wait`.
    ///   - input: the text that the command reads from standard input.
    func run(_ command: String, _ name: String, input: String = "", variables: [String: String]) {
        last.withLock { [timeLimit] last in
            let before = last
            last = Task {
                await before?.value
                let outcome = await OutsideCommand(shell: command).run(
                    input: input, variables: variables, timeLimit: timeLimit)
                if !outcome.isSuccess { Console.error("shipshape: warning: the hook \(name) \(outcome)") }
            }
        }
    }

    /// Waits until all commands have ended.
    func finish() async { await last.withLock { $0 }?.value }
}
