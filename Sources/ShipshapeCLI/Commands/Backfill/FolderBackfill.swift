internal import BSON
internal import Backfill
internal import Concurrency
internal import Files
import JobReports
internal import JobState
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import Steps

/// The run of several jobs by `backfill FOLDER` or `backfill FILE…`: the pending ones in order, each once.
struct FolderBackfill {
    let command: BackfillCommand
    /// Whether the jobs are those of a folder; otherwise, they are those of several files.
    let isFolder: Bool

    func work() throws -> Work {
        let isDryRun = command.preview.dryRun
        let title = command.jobs.joined(separator: " ")
        return Work(
            "backfill", title, output: command.output, monitoring: isDryRun ? nil : command.monitoring,
            throttles: true, reads: command.jobs
        ) { try await run(in: $0) }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let jobs =
            isFolder
            ? try JobFolder.read(at: command.jobs[0], assuming: AppSettings.assumptions)
            : try JobFolder.read(command.jobs, assuming: AppSettings.assumptions)
        for draft in jobs.drafts where !command.output.quiet {
            Console.error("Note: \(draft.printable) is not run, because it is a draft: all its steps are comments")
        }
        let isDryRun = command.preview.dryRun
        var places = WorkPlaces(state: StateDatabase.name)
        for entry in jobs.entries {
            guard let job = try? entry.job else { continue }
            places.add(job.reach, ledger: LedgerPlace.location, apps: LedgerPlace.apps().ids)
        }
        let pool = try await frame.pool(for: command.needs, on: places, readsFromPrimary: !isDryRun)
        let registry = JobRegistry(StateDatabase.name, on: pool)
        let plan: MigrationPlan
        do {
            plan = try await .read(jobs, from: registry, isDeployed: command.deployed, again: command.several.again)
        } catch let error as MongoError where isDryRun && error.isAuthorization {
            Console.error("Note: the user is not allowed to read the state database, so each job counts as pending")
            plan = MigrationPlan(jobs, applied: [], aftermath: [:], waitingForDeploy: [], again: false)
        }
        try plan.checkUnchanged()
        guard let pending = plan.due(upTo: command.several.until) else {
            throw UsageError(
                "--until: there is no job \"\(command.several.until ?? "")\"; jobs: "
                    + jobs.entries.map(\.name).joined(separator: ", "))
        }
        try plan.checkNotUndone(pending)
        for entry in pending { _ = try entry.job }
        var options = command.runFlags.options
        options.statesDeploy = command.deployed
        options.proves = command.prove
        var run = MigrateRun(
            pending: pending, of: plan, pool: pool, registry: registry, options: options,
            output: command.output, isDryRun: isDryRun, monitor: frame.monitor)
        if !command.output.quiet { notes(plan, pending) }
        if !isDryRun, !pending.isEmpty {
            try command.review.confirm(pending.map(\.parsed))
            try confirm(pending, of: plan)
        }
        frame.begin()
        let failure = await run.run(frame.stop)
        let report = run.report
        var outcome = CommandOutcome.result(report, failure ?? (report.hasFindings ? ExitStatus.findings : nil))
        outcome.measure = { $0.take(report) }
        return outcome
    }

    private func notes(_ plan: MigrationPlan, _ pending: [JobFolder.Entry]) {
        for item in plan.items {
            guard item.applied != nil, let refusal = item.aftermath?.undone else { continue }
            Console.error("Note: \(item.entry.file): \(refusal.message)")
        }
        for item in plan.items where item.isLeftAfterDeploy {
            Console.error(
                "Note: \(item.entry.file) is not run again after the deploy, because a schema that it names changed "
                    + "since it was applied")
        }
        for entry in plan.waiting {
            Console.error(
                "Note: \(entry.file) is not run, because it waits for the deploy of its next schema; "
                    + "--deployed states it")
        }
        let late = plan.late.filter { entry in pending.contains { $0.name == entry.name } }
        for entry in late {
            Console.error(
                "Note: \(entry.file) comes before jobs that were applied, but was not applied itself: it runs now")
        }
    }

    private func confirm(_ pending: [JobFolder.Entry], of plan: MigrationPlan) throws {
        if !(command.yes && command.output.quiet) {
            let lines = pending.map { entry in
                let item = plan.items.first { $0.entry.name == entry.name }
                let reason = item?.isDueAgain == true ? ": its next schema was deployed since" : ""
                return "  \(entry.file): job \(entry.name) on \(entry.parsed.namespace)"
                    + (item?.runsAgain == true ? ", again\(reason)" : "")
            }
            Console.error((["\(pending.count.counted("job")) to run:"] + lines).joined(separator: "\n"))
        }
        guard !command.yes else { return }
        try Console.confirm(
            "Run \(pending.count == 1 ? "it" : "them")?", orElse: "nothing was written",
            offTerminal: "backfill needs --yes (--dry-run shows what it would do)")
    }
}

extension MigrationPlan {
    /// Reads which jobs were applied, and which wait for a deploy.
    /// - Parameters:
    ///   - isDeployed: whether the operator states that no job waits for a deploy.
    ///   - again: whether the applied jobs run again.
    static func read(
        _ jobs: JobFolder, from registry: JobRegistry, isDeployed: Bool, again: Bool
    ) async throws -> MigrationPlan {
        try await onOwnedThread(name: "state") { () throws in
            MigrationPlan(
                jobs, applied: try registry.applied(), aftermath: try registry.aftermath(of: jobs.entries.map(\.name)),
                waitingForDeploy: isDeployed ? [] : try registry.waitingForDeploy(jobs.entries), again: again)
        }
    }
}
