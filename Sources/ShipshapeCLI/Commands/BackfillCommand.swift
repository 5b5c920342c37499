internal import ArgumentParser
internal import BSON
internal import Backfill
internal import Checking
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import SchemaChange
internal import ServerSchema
internal import Steps
internal import SystemPackage

/// The command `shipshape backfill JOB`.
struct BackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "backfill", "<job>",
        abstract: "Runs or resumes a job, which makes the documents of a collection fit a schema.",
        examples: [
            "backfill jobs/app.person.yml --dry-run",
            "backfill jobs/app.person.yml --yes --max-runtime 2h",
            "backfill jobs/app.person.yml --databases 'tenant_*'",
        ],
        details: """
            Shows the plan and asks before it writes; without a terminal it needs --yes. The job runs in chunks. Each \
            chunk is checkpointed in the state database with majority, so the job can be stopped or killed at any \
            moment, and the next run continues from there. --dry-run shows what would change and what would remain, \
            and writes nothing, not even state.
            """)

    @Argument(help: "The job file.", completion: .file())
    var job: String

    @OptionGroup var preview: PreviewFlags

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @Flag(
        help: ArgumentHelp(
            "Declare that the next schema is the active one by now, or that sync is terminated until it is.",
            discussion:
                "shipshape deployed records the same. A job with \"requires: deployed\" runs only after that."))
    var deployed = false

    @OptionGroup var review: ReviewFlags

    @Flag(help: "Keep no journal: the job costs less, but cannot be undone.")
    var noJournal = false

    @OptionGroup var selection: SelectionFlags

    @Option(
        help: ArgumentHelp(
            "Write every skipped document and its code as JSON lines; the last line is the result.",
            valueName: "file"), completion: .file())
    var failures: String?

    @OptionGroup(title: "The Run") var runFlags: RunFlags
    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        try selection.check(isDryRun: preview.dryRun, hasFailures: failures != nil)
        guard preview.dryRun || connection.readPreference == nil else {
            throw ValidationError("a backfill reads from the primary: --read-preference goes with --dry-run")
        }
    }

    func run() async throws {
        try output.prepare(reading: [job, selection.ids] + connection.files, writing: [failures, monitoring.metrics])
        try JobArgument.refuseFolder(job)
        let file = try JobFile.read(at: job)
        let schemas = [file.activeSchema, file.nextSchema].map { $0.map(file.resolved) }
        try output.prepare(reading: schemas, writing: [failures, monitoring.metrics])
        guard !deployed || file.requiresDeploy || file.nextSchema != nil else {
            throw UsageError(
                "--deployed: job \"\(file.name)\" names no next schema, so none can be the active one")
        }
        if !preview.dryRun { try review.confirm([file]) }
        let name = selection.part?.name(of: file.name) ?? file.name
        let monitor = RunMonitor(preview.dryRun ? nil : monitoring, of: "backfill", name, throttles: true)
        try await monitor.following {
            if let databases = selection.databases {
                return try await DatabasesBackfill(self, of: file, in: databases).run(monitor)
            }
            try await run(file, monitor)
        }
    }

    /// The options of the run, from the flags.
    var options: RunOptions {
        var options = runFlags.options(state: state, ledger: ledger)
        options.keepsJournal = !noJournal
        options.statesDeploy = deployed
        return options
    }

    /// The command's name in the table of privileges, in which a dry run has its own entry.
    var needs: String { preview.dryRun ? "backfill --dry-run" : "backfill" }

    private func run(_ file: Job, _ monitor: RunMonitor) async throws {
        var compiled = try CompiledJob(reading: file, assuming: app.assumptions)
        if selection.part != nil, !compiled.canBeShared {
            throw UsageError(
                "--part: the `once` steps of job \"\(file.name)\" mark finished documents for the whole job, so it "
                    + "cannot run in parts")
        }
        let pool = try connection.pool(readsFromPrimary: !preview.dryRun)
        var options = options
        options.only = try selection.ids.map { try IDList.read(at: $0, for: file.namespace) }
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        try await pool.requirePrivileges(
            for: needs,
            on: WorkPlaces(
                compiled.reach, state: state.stateDatabase, ledger: ledger.location, apps: ledger.apps(of: []).ids))

        if let part = selection.part {
            let whole = BackfillRunner(compiled, options: options, stop: stop, events: { _ in })
            compiled = try await onOwnedThread(name: "part") { () throws in try whole.job(part, on: pool) }
        }
        var work = JobRun(
            job: compiled, options: options, stop: stop, isDryRun: preview.dryRun, showsProgress: output.showsProgress,
            isQuiet: output.quiet)
        var plan = try await work.plan(on: pool, isAsked: !yes || output.isKept)
        if plan.deploy == .awaited, !preview.dryRun, !yes, Console.canAsk {
            let question =
                compiled.next?.dialect == .prisma
                ? "Do all clients use that schema now, or does none run?"
                : "Do clients sync under that schema now, or is sync terminated?"
            try Console.confirm(
                "Job \(plan.job) waits for the deploy of its next schema. \(question)",
                orElse: "nothing was written", offTerminal: "backfill needs --deployed")
            // The user confirmed that the next schema is deployed, so it counts as the active one. The plan is made
            // again, because the active schema decides which documents stop syncing.
            work.options.statesDeploy = true
            plan = try await work.plan(on: pool, isAsked: true)
        }
        let showsPlan = try !preview.dryRun && confirm(plan, work)
        interruption.beginWork()
        monitor.begin()

        let lines = SkippedLines(of: file.namespace)
        let skipped = try failures.map { path throws in try FailuresFile(path) }
        defer { skipped?.discard() }
        skipped?.add(lines.header)
        let timeline = TimelineKeeper()
        let report = try await work.run(plan, on: pool) { event in
            timeline.add(event)
            monitor.take(event)
            if case .skipped(let failure) = event { skipped?.add(lines.line(failure)) }
        }
        try skipped?.finish(lines.result(report))
        let result = BackfillResult(
            report, showsValues: preview.showValues, timeline: timeline.finished(),
            nextCommands: nextCommands(after: compiled.job), shownPlan: showsPlan ? plan : nil)
        monitor.take(result.report.headline) { $0.take(report) }
        try output.show(result)
        if let failed = ExitStatus(of: report) { throw failed }
    }

    /// Returns the lines that propose the next commands: one checks the result of a finished run, and one undoes the
    /// job.
    ///
    /// A line is left out if its command is not possible.
    private func nextCommands(after job: Job) -> [String] {
        var commands: [String] = []
        if let next = job.nextSchema {
            let path = { (schema: String) in FilePath(job.resolved(schema)).lexicallyNormalized().string }
            // If the job repairs documents, or ran after the deploy of its next schema, this schema is live already.
            // The proposed check then has no `--active`: it compares no schemas, and counts every document that does
            // not fit.
            let active = job.activeSchema.map(path).flatMap { $0 == path(next) || job.requiresDeploy ? nil : $0 }
            let renames = active == nil ? [] : job.renames.map { (name: "--rename", value: $0.description) }
            let flags =
                (active.map { [(name: "--active", value: $0)] } ?? []) + renames
                + [("--collection", "\(job.namespace)")]
            commands.append("Next: \(NextCommand("check", [path(next)], flags))")
        }
        if !noJournal, job.keepsJournal { commands.append("To undo the job: \(NextCommand("undo", [job.name]))") }
        return commands
    }

    /// Shows the plan and asks the user for confirmation; does neither if there is nothing to do.
    ///
    /// With `--yes`, the user is not asked. With `--yes` and `--quiet`, the plan is not shown either.
    /// - Returns: whether the plan was shown.
    /// - Throws: an error if the run must not begin, or if the user does not confirm it.
    private func confirm(_ plan: BackfillPlan, _ work: JobRun) throws -> Bool {
        try work.check(plan)
        guard plan.needing != 0 || plan.resumesAfter != nil || plan.refreshable > 0 else { return false }
        let isShown = !(yes && output.quiet)
        if isShown { Console.error(BackfillPlanResult(plan).text) }
        if !yes {
            try Console.confirm(
                "Write to \(plan.namespace)?", orElse: "nothing was written", offTerminal: "backfill needs --yes")
        }
        return isShown
    }
}

/// The flags for a run that only shows what would change.
struct PreviewFlags: ParsableArguments {
    @Flag(help: "Show what would change and what would remain; write nothing.")
    var dryRun = false

    @Flag(help: "Show the values of a few documents before and after; only in a dry run.")
    var showValues = false
}

/// The flags that restrict a backfill to some documents of the job's collection, or run it in many databases.
struct SelectionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run only on listed documents: one _id per line as extended JSON, or a file of check --failures.",
            valueName: "file"), completion: .file())
    var ids: String?

    @Option(
        help: ArgumentHelp(
            "Run one part of the job, such as 2/4, while other runners run the other parts.",
            discussion:
                "Each part is a job of its own: steer, show and undo it by its name, JOB.part-2-of-4.",
            valueName: "number/parts"),
        transform: ScanFlags.part(parsing:))
    var part: CheckPart?

    @Option(
        help: ArgumentHelp(
            "Run in every database whose name matches, such as 'tenant_*', one after the other.",
            discussion:
                "All collections of the job are taken from that database. Each database has a job of its own: steer, "
                + "show and undo it by its name, JOB.in-DATABASE.",
            valueName: "pattern"))
    var databases: String?

    /// Refuses selection flags that cannot be combined with each other or with other flags.
    func check(isDryRun: Bool, hasFailures: Bool) throws(ValidationError) {
        if isDryRun, ids != nil {
            throw ValidationError("--ids does not go with --dry-run, which reads the whole collection")
        }
        if part != nil, isDryRun || ids != nil {
            throw ValidationError(
                "--part does not go with \(isDryRun ? "--dry-run, which reads the whole collection" : "--ids")")
        }
        let apart = [("--ids", ids != nil), ("--part", part != nil), ("--failures", hasFailures)]
        if databases != nil, let (flag, _) = apart.first(where: \.1) {
            throw ValidationError("\(flag) does not go with --databases: it applies to one database")
        }
    }
}
