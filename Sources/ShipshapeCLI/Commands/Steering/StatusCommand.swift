internal import ArgumentParser
internal import Backfill
internal import Concurrency
internal import Files
internal import JobReports
internal import JobState
internal import Mongo
internal import Partners
internal import Privileges
internal import Reporting

/// The command `shipshape status [JOB | FOLDER | PARTNER]`.
struct StatusCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "status", "[<job> | <folder> | <partner>]",
        abstract: "Shows the state of jobs and partners, from any machine.",
        examples: [
            "status",
            "status person-v2 --watch",
            "status jobs",
        ],
        details: """
            Shows whether a job runs, waits (and for what), is paused (and by whom), was stopped, is done, or is \
            stalled. A job is stalled if it should be running, but its runner has not reported for too long by the \
            server's clock (setting stalled-after). Also shows its progress, speed and duration, the runner that holds \
            it, what was skipped, and each request with its author.

            For a folder of jobs, shows the phases of the change: which jobs were applied, which are pending or wait \
            for the deploy, and how many documents need each of them now (in collections of up to a million \
            documents). For a partner job file, shows whether the partner is copied, mirrored and compared, and how \
            far the mirror lags.

            Reads only the state database; the job's share of its collection, and the documents that need it, also \
            need find on the collection. Exit code 1 means that a job is stalled.
            """)

    @Argument(help: "The job's name or file, a folder of jobs, or a partner job file; default: all jobs.")
    var job: JobArgument?

    @Flag(
        help: "Show the state every two seconds, until every job shown is done, or Ctrl-C; as JSON, one line each time."
    )
    var watch = false

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    private static let interval = Duration.seconds(2)

    static let exclusions: [Exclusion<Self>] = [
        .apart(
            Given("--watch") { $0.watch },
            Given("--report") { !$0.output.report.isEmpty },
            "a report holds one state: leave one of them out")
    ]

    func validate() throws {
        try checkExclusions()
        if watch, ![.text, .json, .jsonl].contains(output.output) {
            throw ValidationError("--watch shows text or JSON: --output \(output.output) does not go with it")
        }
    }

    func work() throws -> Work {
        Work("status", output: output, reads: [job?.path]) { frame in
            let folder = job?.folder
            let partner = job?.path.flatMap { PartnerJob.isPartnerJob(at: $0) ? $0 : nil }
            guard !watch || folder == nil && partner == nil else {
                throw UsageError("--watch shows jobs: name one job, or none for all")
            }
            if let folder { return try await status(ofFolder: folder, in: frame) }
            if let partner { return try await status(ofPartner: partner, in: frame) }
            return try await status(in: frame)
        }
    }

    private func status(in frame: Frame) async throws -> CommandOutcome {
        let (name, file) = (try job?.name, try job?.file)
        let registry = try await frame.registry(for: "status")
        let stalledAfter = Settings.current[Known.stalledAfter]
        let read = { @Sendable () throws -> [JobStatus] in
            guard let name else { return try registry.all(stalledAfter: stalledAfter) }
            return [try registry.status(of: name, of: file, stalledAfter: stalledAfter)]
        }
        if watch {
            try await follow(read)
            return .done
        }
        let jobs = try await onOwnedThread(name: "state", read)
        return .result(
            JobStatusResult(jobs, isDetailed: job != nil),
            jobs.contains { $0.state == .stalled } ? ExitStatus.findings : nil)
    }

    private func status(ofFolder path: String, in frame: Frame) async throws -> CommandOutcome {
        let jobs = try JobFolder.read(at: path, assuming: AppSettings.assumptions)
        let registry = try await frame.registry(for: "status")
        let plan = try await MigrationPlan.read(jobs, from: registry, isDeployed: false, again: false)
        let stalledAfter = Settings.current[Known.stalledAfter]
        let (begun, left) = try await onOwnedThread(name: "state") { () throws in
            let names = plan.items.map(\.entry.name)
            return (
                try names.compactMap { try registry.status(of: $0, stalledAfter: stalledAfter) },
                try registry.left(by: plan.items.map(\.entry))
            )
        }
        return .result(MigrationStatusResult(plan, begun: begun, left: left, folder: path))
    }

    private func status(ofPartner path: String, in frame: Frame) async throws -> CommandOutcome {
        let partner = try PartnerArguments.read(path)
        let pool = try await frame.pool(
            for: "status", on: WorkPlaces(partner, state: StateDatabase.name), readsFromPrimary: true)
        let registry = PartnerRegistry(StateDatabase.name, on: pool)
        let status = try await onOwnedThread(name: "status") { () throws in try registry.status(of: partner) }
        return .result(PartnerStatusResult(status, ids: IDForm.display))
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
            try await Task.sleep(for: Self.interval)
        }
    }
}

/// The output of `--watch`: as text on a terminal, each update replaces the previous one; otherwise, it follows it.
struct WatchScreen {
    let isTerminal: Bool

    func draw(_ text: String) throws {
        // The terminal codes move the cursor to the top, and clear only the rest of each line and of the screen, to
        // avoid flicker.
        let body = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
        try Console.result(isTerminal ? "\u{1B}[H\(body)\u{1B}[J" : text)
    }
}
