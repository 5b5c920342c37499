internal import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Running
internal import Steps

/// A run of several jobs, one after the other, until one stops or fails.
struct MigrateRun {
    let pending: [JobFolder.Entry]
    let pool: ClientPool
    let registry: JobRegistry
    let options: RunOptions
    let output: OutputFlags
    let isDryRun: Bool
    let monitor: RunMonitor
    /// The applied jobs that run again, because their next schema was deployed since then, or because of `--again`.
    private let again: Set<String>
    private(set) var report: MigrationReport

    init(
        pending: [JobFolder.Entry], of plan: MigrationPlan, pool: ClientPool, registry: JobRegistry,
        options: RunOptions, output: OutputFlags, isDryRun: Bool, monitor: RunMonitor
    ) {
        self.pending = pending
        self.pool = pool
        self.registry = registry
        self.options = options
        self.output = output
        self.isDryRun = isDryRun
        self.monitor = monitor
        again = Set(plan.items.filter(\.runsAgain).map(\.entry.name))
        report = MigrationReport(isDryRun: isDryRun, plan)
    }

    /// Runs the jobs.
    /// - Returns: the error that ended the run early; `nil` if all jobs were run. In both cases ``report`` has the jobs
    ///   that were run.
    mutating func run(_ stop: StopSignal) async -> (any Error)? {
        let started = ContinuousClock.now
        for (index, entry) in pending.enumerated() {
            do {
                var options = options
                // `--deployed` states that the next schema is already active. The flag applies only to jobs that wait
                // until their next schema is deployed. Other jobs may be meant to run before the deployment, so they
                // keep the active schema that their files name.
                options.statesDeploy = options.statesDeploy && entry.parsed.requiresDeploy
                options.maxRuntime = options.maxRuntime.map { max(.zero, $0 - started.duration(to: .now)) }
                guard !stop.isRaised, options.maxRuntime != .zero else { return ExitStatus.stopped }
                let done = try await run(entry, options, stop)
                report.jobs.append((file: entry.file, report: done))
                if case .stopped = done.outcome { return ExitStatus.stopped }
                report.remaining.removeAll { $0 == entry.name }
                if !output.quiet, !isDryRun {
                    Console.error(
                        "\(index + 1) of \(pending.count): job \(entry.name) is applied"
                            + (report.hasFindings(done) ? ", with findings" : ""))
                }
            } catch {
                return error
            }
        }
        return nil
    }

    private func run(_ entry: JobFolder.Entry, _ options: RunOptions, _ stop: StopSignal) async throws -> BackfillReport
    {
        var work = JobRun(
            job: try entry.job, options: options, stop: stop, isDryRun: isDryRun, showsProgress: output.showsProgress,
            isQuiet: output.quiet)
        let plan = try await work.plan(on: pool, isAsked: output.isKept)
        if !isDryRun { try work.check(plan) }
        let report = try await work.run(plan, on: pool) { [monitor] in monitor.take($0) }
        guard !isDryRun, report.outcome.stop == nil else { return report }
        let (registry, isAgain, hasFindings) = (registry, again.contains(entry.name), self.report.hasFindings(report))
        try await onOwnedThread(name: "state") { () throws in
            try registry.record(entry, hasFindings: hasFindings, isAgain: isAgain)
        }
        return report
    }
}
