internal import ArgumentParser
internal import BSON
internal import Backfill
internal import Checking
internal import Concurrency
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import Steps

/// `shipshape backfill JOB`.
struct BackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill",
        abstract: "Runs or resumes a job: makes the documents of a collection fit.",
        discussion: """
            Shows the plan and asks; off a terminal it needs --yes. The job runs in chunks, each checkpointed with \
            majority in the state database, so that it can be stopped or killed at any moment and goes on from there. \
            --dry-run shows what would change and what would remain, and writes nothing, not even state.
            """)

    @Argument(help: "The job file.", completion: .file())
    var job: String

    @Flag(help: "Show what would change and what would remain; write nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @Flag(
        help: ArgumentHelp(
            "State that the next schema is the active one by now, or that sync is terminated until it is.",
            discussion:
                "It is recorded as shipshape deployed does. A job with \"requires: deployed\" does not run before."))
    var deployed = false

    @Flag(help: "Keep no journal: the job costs less, and cannot be undone.")
    var noJournal = false

    @Option(
        help: ArgumentHelp(
            "Run over the documents of a list alone: a line of extended JSON for each _id, or what check --failures wrote.",
            valueName: "file"), completion: .file())
    var ids: String?

    @Option(
        help: ArgumentHelp(
            "Run one of several parts of the job, beside runners of the other parts: as 2/4.",
            discussion:
                "Each part is a job of its own, named JOB.part-2-of-4: it is steered, shown and undone by that name.",
            valueName: "number/parts"),
        transform: ScanFlags.part(parsing:))
    var part: CheckPart?

    @Option(
        help: ArgumentHelp(
            "Run in every database whose name matches, such as 'tenant_*', one after the other.",
            discussion:
                "All collections of the job are taken from there. Each database has a job of its own, named JOB.in-DATABASE: it "
                + "is steered, shown and undone by that name.",
            valueName: "pattern"))
    var databases: String?

    @Flag(help: "Show the values of a few documents before and after (a dry run).")
    var showValues = false

    @Option(
        help: ArgumentHelp(
            "Write every document that is skipped with its code, as JSON lines; the last line is the result.",
            valueName: "file"), completion: .file())
    var failures: String?

    @OptionGroup(title: "The Run") var runFlags: RunFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        if dryRun, ids != nil {
            throw ValidationError("--ids does not go with --dry-run: a dry run looks at the collection")
        }
        if part != nil, dryRun || ids != nil {
            throw ValidationError(
                "--part does not go with \(dryRun ? "--dry-run, which looks at the whole collection" : "--ids")")
        }
        let apart = [("--ids", ids != nil), ("--part", part != nil), ("--failures", failures != nil)]
        if databases != nil, let (flag, _) = apart.first(where: \.1) {
            throw ValidationError("\(flag) does not go with --databases: it is for one database")
        }
        guard dryRun || connection.readPreference == nil else {
            throw ValidationError("a backfill reads from the primary: --read-preference goes with --dry-run")
        }
    }

    func run() async throws {
        try output.prepare(reading: [job, ids] + connection.files, writing: [failures, monitoring.metrics])
        try JobArgument.refuseFolder(job)
        let file = try JobFile.read(at: job)
        let schemas = [file.activeSchema, file.nextSchema].map { $0.map(file.resolved) }
        try output.prepare(reading: schemas, writing: [failures, monitoring.metrics])
        guard !deployed || file.requiresDeploy || file.nextSchema != nil else {
            throw UsageError(
                "--deployed: job \"\(file.name)\" names no next schema, so none of its own can be the active one")
        }
        let name = part?.name(of: file.name) ?? file.name
        let monitor = RunMonitor(dryRun ? nil : monitoring, of: "backfill", name, throttles: true)
        try await monitor.following {
            if let databases { return try await DatabasesBackfill(self, of: file, in: databases).run(monitor) }
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

    /// The name under which the command's privileges are listed.
    var needs: String { dryRun ? "backfill --dry-run" : "backfill" }

    private func run(_ file: Job, _ monitor: RunMonitor) async throws {
        var compiled = try CompiledJob(reading: file, assuming: app.assumptions)
        if part != nil, !compiled.canBeShared {
            throw UsageError(
                "--part: what the `once` steps of job \"\(file.name)\" did is known by fields that the whole job has in common, "
                    + "so it runs as a whole")
        }
        let pool = try connection.pool(readsFromPrimary: !dryRun)
        var options = options
        options.only = try ids.map { try IDList.read(at: $0, for: file.namespace) }
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        try await pool.requirePrivileges(
            for: needs,
            on: WorkPlaces(
                compiled.reach, state: state.stateDatabase, ledger: ledger.location, apps: ledger.apps(of: []).ids))

        if let part {
            let whole = BackfillRunner(compiled, options: options, stop: stop, events: { _ in })
            compiled = try await onOwnedThread(name: "part") { () throws in try whole.job(part, on: pool) }
        }
        var work = JobRun(
            job: compiled, options: options, stop: stop, isDryRun: dryRun, showsProgress: output.showsProgress,
            isQuiet: output.quiet)
        var plan = try await work.plan(on: pool, isAsked: !yes || output.isKept)
        if plan.deploy == .awaited, !dryRun, !yes, Console.canAsk {
            try Console.confirm(
                "Job \(plan.job) waits for the deploy of its next schema. Do clients sync under that schema now, or is "
                    + "sync terminated?",
                orElse: "nothing was written", offTerminal: "backfill needs --deployed")
            // The plan is made again, because the active schema decides which documents stop syncing.
            work.options.statesDeploy = true
            plan = try await work.plan(on: pool, isAsked: true)
        }
        if !dryRun { try confirm(plan, work) }
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
        let result = BackfillResult(report, showsValues: showValues, timeline: timeline.finished())
        monitor.take(result.report.headline) { $0.take(report) }
        try output.show(result)
        if let failed = ExitStatus(of: report) { throw failed }
    }

    /// Shows the plan, unless there is nothing to do, and asks for confirmation without `--yes`.
    private func confirm(_ plan: BackfillPlan, _ work: JobRun) throws {
        try work.check(plan)
        guard plan.needing != 0 || plan.resumesAfter != nil || plan.refreshable > 0 else { return }
        if !(yes && output.quiet) { Console.error(BackfillPlanText.render(plan)) }
        guard !yes else { return }
        try Console.confirm(
            "Write to \(plan.namespace)?", orElse: "nothing was written",
            offTerminal: "backfill needs --yes")
    }
}
