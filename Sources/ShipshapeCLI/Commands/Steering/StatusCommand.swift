internal import ArgumentParser
import Backfill
internal import Concurrency
internal import JobState
internal import Mongo
internal import Reporting

/// The command `shipshape status [JOB]`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "status", "[<job>]",
        abstract: "Shows the state of one job or of all jobs, from any machine.",
        examples: [
            "status",
            "status person-v2 --watch --interval 10s",
        ],
        details: """
            Shows whether a job runs, waits (and for what), is paused (and by whom), was stopped, is done, or is \
            stalled. A job is stalled if it should be running, but its runner has not reported for too long by the \
            server's clock. Also shows its progress, speed and duration, the runner that holds it, what was skipped, \
            and each request with its author.

            Reads only the state database; the job's share of its collection also needs find on the collection. Exit \
            code 1 means that a job is stalled.
            """)

    @Argument(help: "The job's name, or its file; default: all jobs.")
    var job: JobArgument?

    @Flag(help: "Show the state repeatedly, until every job shown is done, or Ctrl-C; as JSON, one line each time.")
    var watch = false

    @Option(help: ArgumentHelp("How long --watch waits between two updates.", valueName: "duration"))
    var interval = DurationArgument(.seconds(2))

    @Option(
        help: ArgumentHelp(
            "How long a runner may go without a checkpoint, not counting waits, before the job is stalled.",
            valueName: "duration"))
    var stalledAfter = DurationArgument(.seconds(120))

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if interval.duration <= .zero { throw ValidationError("--interval must be more than nothing") }
        if watch, !output.report.isEmpty { throw ValidationError("--report does not go with --watch") }
        if watch, ![.text, .json, .jsonl].contains(output.output) {
            throw ValidationError("--watch shows text or JSON: --output \(output.output) does not go with it")
        }
    }

    func run() async throws {
        try output.prepare(reading: [job?.path] + connection.files)
        let (name, file, registry) = (
            try job?.name, try job?.file, try await state.registry(connection, for: "status")
        )
        let stalledAfter = stalledAfter.duration
        let read = { @Sendable () throws -> [JobStatus] in
            guard let name else { return try registry.all(stalledAfter: stalledAfter) }
            return [try registry.status(of: name, of: file, stalledAfter: stalledAfter)]
        }
        guard watch else {
            let jobs = try await onOwnedThread(name: "state", read)
            try output.show(JobStatusResult(jobs, isDetailed: job != nil))
            if jobs.contains(where: { $0.state == .stalled }) { throw ExitStatus.findings }
            return
        }
        try await follow(read)
    }

    private func follow(_ read: @escaping @Sendable () throws -> [JobStatus]) async throws {
        let screen = WatchScreen(isTerminal: Console.isOutputTerminal && output.output == .text)
        while true {
            let jobs = try await onOwnedThread(name: "state", read)
            let result = JobStatusResult(jobs, isDetailed: job != nil)
            if output.output == .text {
                let isColored = Console.wantsColor(onTerminal: Console.isOutputTerminal)
                let layout = TextLayout(width: Console.outputWidth, isColored: isColored)
                try screen.draw(TerminalText.safe(result.text(layout), isColored: isColored))
            } else {
                try screen.draw(result.line + "\n")
            }
            guard jobs.contains(where: { $0.state != .done }) else {
                if output.output != .text { try Console.result(result.end) }
                return
            }
            try await Task.sleep(for: interval.duration)
        }
    }
}

/// The output of `--watch`.
///
/// As text on a terminal, each update replaces the previous one. In all other cases, each update follows the previous
/// one.
struct WatchScreen {
    let isTerminal: Bool

    func draw(_ text: String) throws {
        // The terminal codes move the cursor to the top, and clear only the rest of each line and of the screen, to
        // avoid flicker.
        let body = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
        try Console.result(isTerminal ? "\u{1B}[H\(body)\u{1B}[J" : text)
    }
}
