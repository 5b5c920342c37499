internal import ArgumentParser
internal import BSON
internal import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning

struct UndoCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "undo", "<job>",
        abstract: "Undoes what a job changed, except where another client changed it again.",
        examples: [
            "undo person-v2 --dry-run",
            "undo jobs/app.person.yml --yes",
        ],
        details: """
            Restores fields from the job's journal in the state database, newest first; the job's file is not needed. \
            A field in which a client changed what the job wrote is skipped, and its document listed (exit code 1); \
            the next undo tries it again. Changes of other fields stay. Shows the plan and asks; without a terminal \
            it needs --yes. Each batch is a transaction, so undo can be stopped or killed at any moment, and the next \
            run continues from there. --dry-run compares and writes nothing.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(help: "Show what would be undone and what would be skipped; write nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @OptionGroup(title: "The Run") var runFlags: RunFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func work() throws -> Work {
        let (name, named) = (try job.name, try job.file?.namespace)
        return Work(
            "undo", name, output: output, monitoring: dryRun ? nil : monitoring, throttles: true, reads: [job.path]
        ) { try await run(name, on: named, in: $0) }
    }

    private func run(_ name: String, on named: Namespace?, in frame: Frame) async throws -> CommandOutcome {
        let pool = try frame.pool(readsFromPrimary: true)
        let options = runFlags.options
        let assumptions = AppSettings.assumptions
        let (quiet, monitor) = (output.quiet, frame.monitor)

        let silent = ProgressLine(name, total: nil, isShown: false)
        let planner = UndoRunner(
            name, on: named, options: options, assuming: assumptions, stop: frame.stop,
            events: { if case .retrying = $0 { $0.show(on: silent, quiet: quiet) } })
        // The command retries errors for a long time only after the undo has begun. Before that, it gives up early, so
        // that the user soon learns that the deployment cannot be reached.
        try await onOwnedThread(name: "hello") { () throws in
            _ = try planner.early.run { try pool.client().hello() }
        }
        try await requirePrivileges(to: name, on: pool, planner.early)
        let isAsked = dryRun || !yes
        let plan = try await ProgressLine.during("\(name): reading the journal", isShown: output.showsProgress) {
            () throws in try planner.dryRun(on: pool, isAsked: isAsked)
        }
        if dryRun || plan.outcome == .undoneBefore { return outcome(plan) }
        if case .stopped = plan.outcome { return outcome(plan) }
        try planner.checkHeadroom(of: plan)
        try confirm(plan)
        frame.begin()

        let progress = ProgressLine(name, total: plan.journal.changes, isShown: output.showsProgress)
        defer { progress.finish() }
        let runner = UndoRunner(
            name, on: named, options: options, assuming: assumptions, stop: frame.stop,
            events: { event in
                monitor.take(event)
                event.show(on: progress, quiet: quiet)
            })
        return outcome(try await onOwnedThread(name: "undo") { () throws in try runner.run(on: pool) })
    }

    /// Checks the privileges on the state database, then on the collections that the stored job names.
    private func requirePrivileges(to name: String, on pool: ClientPool, _ early: RetryPolicy) async throws {
        let command = dryRun ? "undo --dry-run" : "undo"
        try await pool.requirePrivileges(for: command, on: WorkPlaces(state: StateDatabase.name))
        let registry = JobRegistry(StateDatabase.name, on: pool)
        let reach = try await onOwnedThread(name: "state") { () throws in try early.run { try registry.reach(of: name) }
        }
        guard let reach else { return }
        try await pool.requirePrivileges(
            for: command,
            on: WorkPlaces(
                reach, state: StateDatabase.name, ledger: LedgerPlace.location, apps: LedgerPlace.apps().ids))
    }

    private func confirm(_ plan: UndoReport) throws {
        var report = plan.report
        report.next = []
        if !(yes && output.quiet) { Console.error(TextReport(report).text) }
        guard !yes else { return }
        try Console.confirm(
            "Write to \(plan.namespace)?", orElse: "nothing was written",
            offTerminal: "undo needs --yes")
    }

    private func outcome(_ report: UndoReport) -> CommandOutcome {
        if case .stopped = report.outcome { return .result(report, ExitStatus.stopped) }
        return .result(report, report.hasFindings ? ExitStatus.findings : nil)
    }
}
