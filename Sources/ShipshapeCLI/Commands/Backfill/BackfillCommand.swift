internal import ArgumentParser
internal import BSON
internal import Backfill
internal import Check
internal import Checking
internal import Concurrency
internal import Files
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

struct BackfillCommand: WritingCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "backfill", "(<file> ... | <folder>)",
        abstract: "Runs or resumes jobs, which make the documents of a collection fit a schema.",
        examples: [
            "backfill jobs/app.person.yml --dry-run",
            "backfill jobs --yes --max-runtime 2h",
            "backfill jobs/app.person.yml --databases 'tenant_*'",
        ],
        details: """
            Shows the plan and asks before it writes; without a terminal it needs --yes. A job runs in chunks. Each \
            chunk is checkpointed in the state database, so the job can be stopped or killed at any moment, and the \
            next run continues from there. --dry-run shows what would change and what would remain, and writes \
            nothing, not even state.

            The jobs of a folder, or of several files, run one after the other, each once: those of a folder in the \
            order of their file names, then those in its subfolder after-deploy. A finished job is recorded as \
            applied, with a digest of its content and schemas, and is skipped by the next run. It runs again if its \
            next schema is deployed afterwards, and with --again. A job that leaves documents for you to fix counts as \
            applied, with findings; the next jobs still run, and the exit code is 1. The first job that stops ends \
            the run, with that job's exit code. A job that was changed after it was applied is refused: make a new \
            one. status FOLDER shows which jobs were applied, when and by whom, and which are pending.

            A job with "requires: deployed" waits for the deploy of its next schema, which job deployed records for a \
            job of the same collection and schema, or --deployed declares. In a folder, it stays pending while the \
            others run.
            """)

    static let brief = [
        "--dry-run", "--show-values", "--yes", "--deployed", "--max-runtime", "--allow-unsync", "--databases",
        "--until", "--uri", "--output",
    ]

    @Argument(help: "The job file, several of them, or a folder of job files.", completion: .file())
    var jobs: [String]

    @OptionGroup var preview: PreviewFlags

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @OptionGroup(title: "The Run") var runFlags: RunFlags

    @Flag(
        help: ArgumentHelp(
            "Declare that the next schema is the active one by now, or that sync is terminated until it is.",
            discussion: "shipshape job deployed records the same."))
    var deployed = false

    @Flag(
        help: ArgumentHelp(
            "Compare the steps with the server's own first, as always on a server version that was not tested.",
            discussion: "If they differ, the server computes them for every document."))
    var prove = false

    @OptionGroup var review: ReviewFlags
    @OptionGroup(title: "One Job") var selection: SelectionFlags
    @OptionGroup(title: "Several Jobs") var several: SeveralJobsFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    private static let ids = Given("--ids") { $0.selection.ids != nil }
    private static let part = Given("--part") { $0.selection.part != nil }
    private static let databases = Given("--databases") { $0.selection.databases != nil }
    private static let failures = Given("--failures") { $0.selection.failures != nil }
    private static let ofOne = [
        ids, part, databases, failures, Given("--no-journal") { $0.selection.noJournal },
        Given("--show-values") { $0.preview.showValues },
    ]
    private static let ofSeveral = [
        Given("--until") { $0.several.until != nil },
        Given("--again") { $0.several.again },
    ]

    static let exclusions: [Exclusion<Self>] =
        Exclusion<Self>.apart(
            Given("--dry-run") { $0.preview.dryRun }, each: [ids, part],
            "a dry run reads the whole collection: leave one of them out")
        + Exclusion<Self>.apart(
            databases, each: [ids, part, failures], "it applies to one database: run the job in each by itself")
        + [.apart(ids, part, "the listed documents are not divided: leave one of them out")]
        + ofSeveral.flatMap { option in
            Exclusion<Self>.apart(
                option, each: ofOne, "it runs several jobs, the other applies to one: run that alone")
        }

    func work() async throws -> Work {
        if let folder = try jobsOfFolder() { return try folder.work() }
        if let option = Self.ofSeveral.first(where: { $0.isGiven(self) }) {
            throw UsageError("\(option.name) is for several jobs: name a folder of jobs, or several files")
        }
        let file = try JobFile.read(at: jobs[0])
        guard !deployed || file.requiresDeploy || file.nextSchema != nil else {
            throw UsageError("--deployed: job \"\(file.name)\" names no next schema, so none can be the active one")
        }
        let schemas = [file.activeSchema, file.nextSchema].map { $0.map(file.resolved) }
        return Work(
            "backfill", selection.part?.name(of: file.name) ?? file.name, output: output,
            monitoring: preview.dryRun ? nil : monitoring, throttles: true, reads: jobs + [selection.ids] + schemas,
            writes: [selection.failures]
        ) { frame in
            if !preview.dryRun { try review.confirm([file]) }
            guard let databases = selection.databases else { return try await run(file, in: frame) }
            return try await DatabasesBackfill(self, of: file, in: databases).run(in: frame)
        }
    }

    /// Returns the run of several jobs, if the command line names a folder or several files.
    /// - Throws: ``UsageError`` for an option that applies to one job.
    private func jobsOfFolder() throws -> FolderBackfill? {
        let isFolder = { (path: String) in (try? FilePath(path).stat().type) == .directory }
        guard jobs.count > 1 || isFolder(jobs[0]) else { return nil }
        if jobs.count > 1, let folder = jobs.first(where: isFolder) {
            throw UsageError("\(folder) is a folder: name one folder, or only files")
        }
        if let option = Self.ofOne.first(where: { $0.isGiven(self) }) {
            throw UsageError("\(option.name) applies to one job: name its file alone")
        }
        return FolderBackfill(command: self, isFolder: jobs.count == 1)
    }

    var options: RunOptions {
        var options = runFlags.options
        options.keepsJournal = !selection.noJournal
        options.statesDeploy = deployed
        options.proves = prove
        return options
    }

    /// The command's name in the table of privileges, in which a dry run has its own entry.
    var needs: String { preview.dryRun ? "backfill --dry-run" : "backfill" }

    private func run(_ file: Job, in frame: Frame) async throws -> CommandOutcome {
        var compiled = try CompiledJob(reading: file, assuming: AppSettings.assumptions)
        if selection.part != nil, !compiled.canBeShared {
            throw UsageError(
                "--part: the `once` steps of job \"\(file.name)\" mark finished documents for the whole job, so it "
                    + "cannot run in parts")
        }
        var options = options
        options.only = try selection.ids.map { try IDList.read(at: $0, for: file.namespace) }
        let pool = try await frame.pool(
            for: needs,
            on: WorkPlaces(
                compiled.reach, state: StateDatabase.name, ledger: LedgerPlace.location, apps: LedgerPlace.apps().ids),
            readsFromPrimary: !preview.dryRun)
        if let part = selection.part {
            let whole = BackfillRunner(compiled, options: options, stop: frame.stop, events: { _ in })
            compiled = try await onOwnedThread(name: "part") { () throws in try whole.job(part, on: pool) }
        }
        var work = JobRun(
            job: compiled, options: options, stop: frame.stop, isDryRun: preview.dryRun,
            showsProgress: output.showsProgress, isQuiet: output.quiet)
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
        frame.begin()

        let lines = SkippedLines(of: file.namespace)
        let skipped = try selection.failures.map { path throws in try FailuresFile(path) }
        defer { skipped?.discard() }
        skipped?.add(lines.header)
        let timeline = TimelineKeeper()
        let monitor = frame.monitor
        let report = try await work.run(plan, on: pool) { event in
            timeline.add(event)
            monitor.take(event)
            if case .skipped(let failure) = event { skipped?.add(lines.line(failure)) }
        }
        try skipped?.finish(lines.result(report))
        let result = BackfillResult(
            report, showsValues: preview.showValues, timeline: timeline.finished(),
            nextCommands: nextCommands(after: compiled.job), shownPlan: showsPlan ? plan : nil)
        var outcome = CommandOutcome.result(result, ExitStatus(of: report))
        outcome.measure = { $0.take(report) }
        return outcome
    }

    /// Returns the lines that propose the next commands, if they are possible: one checks the result of a finished run,
    /// and one undoes the job.
    private func nextCommands(after job: Job) -> [String] {
        var commands: [String] = []
        if let next = job.nextSchema {
            let path = { (schema: String) in FilePath(job.resolved(schema)).lexicallyNormalized().string }
            // If the job repairs documents, or ran after the deploy of its next schema, this schema is live already.
            // The proposed check then has no `--active`: it compares no schemas, and counts every document that does
            // not fit.
            let active = job.activeSchema.map(path).flatMap { $0 == path(next) || job.requiresDeploy ? nil : $0 }
            let flags =
                (active.map { [(name: "--active", value: $0)] } ?? []) + [
                    (name: "--collection", value: "\(job.namespace)")
                ]
            commands.append("Next: \(NextCommand("check", [path(next)], flags))")
            if active != nil, !job.renames.isEmpty {
                let renames = job.renames.map(\.description).joined(separator: ", ")
                commands.append("That check needs \(renames) in renames of shipshape.yml")
            }
        }
        if !selection.noJournal, job.keepsJournal {
            commands.append("To undo the job: \(NextCommand("undo", [job.name]))")
        }
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
        if isShown { Console.error(plan.text) }
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

struct SeveralJobsFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp("Run no job after this one, given by its name or its file.", valueName: "job"),
        completion: .jobs)
    var until: String?

    @Flag(
        help: ArgumentHelp(
            "Run the applied jobs again, too: they change the documents that need them again, such as those that old "
                + "clients wrote since."))
    var again = false
}

/// The options for one job: whether it keeps a journal, and on which documents or in which databases it runs.
struct SelectionFlags: ParsableArguments {
    @Flag(help: "Keep no journal: the job costs less, but cannot be undone.")
    var noJournal = false

    @Option(
        help: ArgumentHelp(
            "Write every skipped document and its code as JSON lines; the last line is the result.",
            valueName: "file"), completion: .file())
    var failures: String?

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
}
