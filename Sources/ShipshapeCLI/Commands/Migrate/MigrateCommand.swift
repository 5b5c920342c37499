internal import ArgumentParser
internal import BSON
internal import Backfill
internal import Concurrency
import JobReports
internal import JobState
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import Steps
internal import SystemPackage

/// The command `shipshape migrate [DIR]`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "migrate", "[<folder>]",
        abstract: "Runs the pending jobs of a folder once each, in the order of their file names.",
        examples: [
            "migrate jobs --status",
            "migrate jobs --dry-run",
            "migrate jobs --yes --max-runtime 2h",
        ],
        details: """
            A finished job is recorded as applied, with a digest of its content and schemas. It runs again if its \
            next schema is deployed afterwards, and with --again. A job that leaves documents for you to fix counts \
            as applied, with findings; the next jobs still run, and the exit code is 1. The first job that stops ends \
            migrate, with that job's exit code; the next run continues from there, also after kill -9.

            Jobs are independent of each other and change only documents that still need it. A job that is added \
            before applied jobs therefore runs like any other, and data of any age arrives at the newest version. A \
            job that was changed after it was applied is refused: make a new one.

            A job with "requires: deployed" stays pending, while the others run, until the deploy of its next schema \
            is recorded by shipshape deployed for a job of the same collection and schema, or declared by --deployed. \
            All jobs in the subfolder after-deploy, where plan writes them, are such jobs. They run last.
            """)

    @Argument(help: "The folder of job files.", completion: .directory)
    var folder = "jobs"

    @Flag(help: "Show which jobs were applied, when and by whom, and which are pending; write nothing.")
    var status = false

    @Flag(help: "Show what each pending job would do to the current data; write nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("Run no job after this one, given by its name or its file.", valueName: "job"),
        completion: .jobs)
    var to: String?

    @Flag(
        help: ArgumentHelp(
            "Run the applied jobs again, too: they change the documents that need them again, such as those that old "
                + "clients wrote since."))
    var again = false

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @Flag(
        help: ArgumentHelp(
            "Declare for the jobs with \"requires: deployed\" that their next schemas are the active ones by now, or "
                + "that sync is terminated until they are.",
            discussion: "shipshape deployed records the same."))
    var deployed = false

    @OptionGroup var review: ReviewFlags

    @OptionGroup(title: "The Run") var runFlags: RunFlags
    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if status, dryRun { throw ValidationError("--status does not go with --dry-run") }
        if status, deployed {
            throw ValidationError("--deployed does not go with --status, which only reads records")
        }
        if status, review.reviewed {
            throw ValidationError("--reviewed does not go with --status, which only reads records")
        }
        if status, again { throw ValidationError("--again does not go with --status, which only reads records") }
        if status, to != nil { throw ValidationError("--to does not go with --status, which shows all jobs") }
        guard status || dryRun || connection.readPreference == nil else {
            throw ValidationError("a backfill reads from the primary: --read-preference goes with --dry-run")
        }
    }

    func run() async throws {
        try output.prepare(reading: [folder] + connection.files, writing: [monitoring.metrics])
        let monitor = RunMonitor(status || dryRun ? nil : monitoring, of: "migrate", folder, throttles: true)
        try await monitor.following { try await run(monitor) }
    }

    private func run(_ monitor: RunMonitor) async throws {
        let jobs = try JobFolder.read(at: folder, assuming: app.assumptions)
        for draft in jobs.drafts where !output.quiet {
            Console.error("note: \(draft.printable) is not run, because it is a draft: all its steps are comments")
        }
        let pool = try connection.pool(readsFromPrimary: !dryRun)
        try await pool.requirePrivileges(for: command, on: places(of: jobs))
        let registry = JobRegistry(state.stateDatabase, on: pool)
        let plan = try await onOwnedThread(name: "state") { [deployed, again] () throws in
            MigrationPlan(
                jobs, applied: try registry.applied(), aftermath: try registry.aftermath(of: jobs.entries.map(\.name)),
                waitingForDeploy: deployed ? [] : try registry.waitingForDeploy(jobs.entries), again: again)
        }
        if status { return try await showStatus(plan, registry) }
        try plan.checkUnchanged()
        guard let pending = plan.due(upTo: to) else {
            throw UsageError(
                "--to: \(folder) has no job \"\(to ?? "")\"; jobs: \(jobs.entries.map(\.name).joined(separator: ", "))")
        }
        try plan.checkNotUndone(pending)
        var options = runFlags.options(state: state, ledger: ledger)
        options.statesDeploy = deployed
        var run = MigrateRun(
            pending: pending, of: plan, pool: pool, registry: registry, options: options,
            output: output, isDryRun: dryRun, monitor: monitor)
        if !output.quiet { notes(plan, pending) }
        if !dryRun, !pending.isEmpty {
            try review.confirm(pending.map(\.job.job))
            try confirm(pending, of: plan)
        }
        monitor.begin()
        let failure = await run.run()
        let result = MigrationResult(run.report)
        monitor.take(result.headline) { $0.take(run.report) }
        try output.show(result)
        if let failure { throw failure }
        if run.report.hasFindings { throw ExitStatus.findings }
    }

    private var command: String {
        if status { return "migrate --status" }
        return dryRun ? "migrate --dry-run" : "migrate"
    }

    private func places(of jobs: JobFolder) -> WorkPlaces {
        var places = WorkPlaces(state: state.stateDatabase)
        guard !status else { return places }
        for entry in jobs.entries {
            places.add(entry.job.reach, ledger: ledger.location, apps: ledger.apps(of: []).ids)
        }
        return places
    }

    private func notes(_ plan: MigrationPlan, _ pending: [JobFolder.Entry]) {
        for item in plan.items {
            guard item.applied != nil, let refusal = item.aftermath?.undone else { continue }
            Console.error("note: \(item.entry.file): \(refusal.message)")
        }
        for entry in plan.waiting {
            let earlier = plan.items.map(\.entry).first { $0.job.sharesDeploy(with: entry.job) }
            let file = earlier.map { FilePath(folder).pushing(FilePath($0.file)).string.shellWord } ?? "FILE"
            Console.error(
                "note: \(entry.file) is not run, because it waits for the deploy of its next schema: record the deploy "
                    + "with shipshape deployed --yes \(file), or state it with --deployed")
        }
        let late = plan.late.filter { entry in pending.contains { $0.name == entry.name } }
        for entry in late {
            Console.error(
                "note: \(entry.file) comes before jobs that were applied, but was not applied itself: it runs now")
        }
    }

    private func confirm(_ pending: [JobFolder.Entry], of plan: MigrationPlan) throws {
        if !(yes && output.quiet) {
            let lines = pending.map { entry in
                let item = plan.items.first { $0.entry.name == entry.name }
                let reason = item?.isDueAgain == true ? ": its next schema was deployed since" : ""
                return "  \(entry.file): job \(entry.name) on \(entry.job.job.namespace)"
                    + (item?.runsAgain == true ? ", again\(reason)" : "")
            }
            Console.error((["\(pending.count.counted("job")) to run:"] + lines).joined(separator: "\n"))
        }
        guard !yes else { return }
        try Console.confirm(
            "Run \(pending.count == 1 ? "it" : "them")?", orElse: "nothing was written",
            offTerminal: "migrate needs --yes (--dry-run shows what it would do)")
    }

    private func showStatus(_ plan: MigrationPlan, _ registry: JobRegistry) async throws {
        let begun = try await onOwnedThread(name: "state") { () throws in
            try plan.items.compactMap { try registry.status(of: $0.entry.name, stalledAfter: .seconds(120)) }
        }
        try output.show(MigrationStatusResult(plan, begun: begun, folder: folder))
    }
}

extension CompiledJob {
    /// Whether the job `waiting` may run once the deploy of this job's next schema is recorded.
    ///
    /// The job `waiting` waits for the deploy of its own next schema. The result is `true` if both jobs have the same
    /// collection and the same next schema, and this job does not itself require the deploy.
    fileprivate func sharesDeploy(with waiting: CompiledJob) -> Bool {
        let next = [self, waiting].map { $0.schemaRecords.filter { $0["role"]?.text == "next" } }
        return !job.requiresDeploy && job.namespace == waiting.job.namespace && next[0] == next[1]
    }
}
