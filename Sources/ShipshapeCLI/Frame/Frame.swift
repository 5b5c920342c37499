internal import ArgumentParser
internal import Concurrency
internal import Files
internal import Foundation
internal import Mongo
internal import Privileges
internal import Reporting

/// A command of the program: a value that says what it needs, and a function from its inputs to an outcome.
///
/// The frame opens what the command needs, in one place and in one order: settings, output files, signals, metrics and
/// hooks, then the work. It shows the result, and ends with the exit code.
protocol FramedCommand: AsyncParsableCommand {
    /// The options that select the deployment and the settings; `nil` for a command that connects to no deployment.
    var selected: ConnectionFlags? { get }

    /// The options that `-h` shows, at most ten; empty for the first ones of the declaration.
    static var brief: [String] { get }

    /// Reads the command's own files, and returns what the frame has to open and the work itself.
    mutating func work() async throws -> Work
}

extension FramedCommand {
    static var brief: [String] { [] }

    mutating func run() async throws {
        let settings = try Settings(selection, variables: ProcessInfo.processInfo.environment)
        settings.store()
        Log.format = settings[Known.logFormat]
        let work = try await work()
        try await Frame.run(work, on: selected)
    }

    private var selection: Settings.Selection {
        Settings.Selection(
            uri: selected?.uri, config: selected?.config, environment: selected?.environment,
            protected: (self as? any WritingCommand)?.protection.yesProtected)
    }
}

/// A command without a deployment.
protocol OfflineCommand: FramedCommand {}

extension OfflineCommand {
    var selected: ConnectionFlags? { nil }
}

protocol ConnectedCommand: FramedCommand {
    var connection: ConnectionFlags { get }
}

extension ConnectedCommand {
    var selected: ConnectionFlags? { connection }
}

protocol WritingCommand: ConnectedCommand {
    var protection: ProtectionFlags { get }
}

/// The work of a command, and the outputs, monitoring and files that it needs.
struct Work {
    /// The name of the command, in metrics and hooks.
    var command = ""
    /// The name of the schema or the job, in metrics and hooks.
    var title = ""
    /// The options for the form of the result; `nil` for a command that only shows text.
    var output: OutputFlags?
    /// The options for metrics and hooks; `nil` for none.
    var monitoring: MonitoringFlags?
    /// Whether the run has a throttle that can make it wait.
    var throttles = false
    /// The files and folders that the command reads.
    var reads: [String?] = []
    /// The files that the command writes, besides those of `output` and `monitoring`.
    var writes: [String?] = []
    /// The message for a signal that comes while nothing is half done.
    var idle = "stopped by a signal; nothing was written"
    var run: (Frame) async throws -> CommandOutcome

    /// Creates a work.
    /// - Parameter run: the function from the opened frame to the outcome.
    init(
        _ command: String = "", _ title: String = "", output: OutputFlags? = nil, monitoring: MonitoringFlags? = nil,
        throttles: Bool = false, reads: [String?] = [], writes: [String?] = [], idle: String? = nil,
        run: @escaping (Frame) async throws -> CommandOutcome
    ) {
        (self.command, self.title, self.output, self.monitoring) = (command, title, output, monitoring)
        (self.throttles, self.reads, self.writes, self.run) = (throttles, reads, writes, run)
        if let idle { self.idle = idle }
    }
}

/// The end of a command's work: what is shown, and the exit code.
struct CommandOutcome {
    /// The result to show; `nil` for a command that has shown it already, or shows only text.
    var result: (any Reportable)?
    /// The text for standard output in place of the result's own.
    var text: String?
    /// Whether `text` is not escaped, because its form has rules of its own.
    var isRaw = false
    /// Adds the result to the metrics.
    var measure: (inout RunMetrics) -> Void = { _ in }
    /// Runs after the result was shown, before the exit code is decided.
    var after: () throws -> Void = {}
    /// The exit code; `nil` for 0.
    var status: (any Error)?

    /// An outcome that shows nothing and ends with 0.
    static var done: CommandOutcome { CommandOutcome() }

    /// Returns an outcome that shows a result.
    /// - Parameter status: the exit code, or an error to report after the result; `nil` for 0.
    static func result(_ result: some Reportable, _ status: (any Error)? = nil) -> CommandOutcome {
        CommandOutcome(result: result, status: status)
    }

    /// Shows a text on standard output in place of the result, which goes to standard error.
    mutating func showNextToText(_ result: some Reportable, _ text: String, isQuiet: Bool) {
        if !isQuiet {
            let isColored = Console.wantsColor(onTerminal: Console.isInteractive)
            Console.write(result.text(TextLayout(isColored: isColored)), isColored: isColored)
        }
        self.text = text
    }

    /// Returns an outcome that shows a text for a person.
    static func text(_ text: String, _ status: (any Error)? = nil) -> CommandOutcome {
        CommandOutcome(text: text, status: status)
    }

    /// Returns an outcome that writes a text to standard output as it is.
    static func raw(_ text: String, _ status: (any Error)? = nil) -> CommandOutcome {
        CommandOutcome(text: text, isRaw: true, status: status)
    }
}

/// The open outputs, signals and metrics of a command while it works.
struct Frame {
    /// The options that select the deployment; `nil` for a command that connects to none.
    let connection: ConnectionFlags?
    let interruption: Interruption
    let monitor: RunMonitor

    /// The flag that asks the work to stop.
    var stop: StopSignal { interruption.stop }

    /// Returns the pool of the deployment, after checking that it answers, and that the user has the privileges that
    /// the command needs.
    /// - Parameters:
    ///   - needs: the name of the command in the table of privileges.
    ///   - readsFromPrimary: whether reads go to the primary even if the connection string says otherwise.
    /// - Throws: ``UsageError`` if no deployment is named; ``MissingPrivileges``; ``MongoError``.
    func pool(for needs: String, on places: WorkPlaces, readsFromPrimary: Bool = false) async throws -> ClientPool {
        let pool = try pool(readsFromPrimary: readsFromPrimary)
        try await pool.requirePrivileges(for: needs, on: places)
        return pool
    }

    /// Returns the pool of the deployment, which does not connect yet.
    func pool(readsFromPrimary: Bool = false, silence: Duration? = nil) throws -> ClientPool {
        guard let connection else { preconditionFailure("the command declares no connection") }
        return try connection.pool(readsFromPrimary: readsFromPrimary, silence: silence)
    }

    /// Begins the work: from here on, a signal asks the work to stop, and the hook for the start runs.
    func begin() {
        interruption.beginWork()
        monitor.begin()
    }

    /// Opens the frame, runs the work in it, shows its outcome, and throws its exit code.
    static func run(_ work: Work, on connection: ConnectionFlags?) async throws {
        try OutputPlaces.prepare(
            work.output?.report ?? [], reading: work.reads + (connection?.files ?? []),
            writing: work.writes + [work.monitoring?.metrics])
        let interruption = Interruption(work.idle)
        let signals = interruption.listen()
        defer { signals.cancel() }
        let monitor = RunMonitor(work.monitoring, of: work.command, work.title, throttles: work.throttles)
        let frame = Frame(connection: connection, interruption: interruption, monitor: monitor)
        try await monitor.following { try end(with: try await work.run(frame), work.output, monitor) }
    }

    private static func end(with outcome: CommandOutcome, _ output: OutputFlags?, _ monitor: RunMonitor) throws {
        if let result = outcome.result {
            monitor.take(result.report.headline, outcome.measure)
            guard let output else { preconditionFailure("a command with a result has options for its form") }
            if let text = outcome.text { try output.show(text, reporting: result) } else { try output.show(result) }
        } else if let text = outcome.text {
            try outcome.isRaw ? Console.result(text) : Console.show(text)
        }
        try outcome.after()
        if let status = outcome.status { throw status }
    }
}
