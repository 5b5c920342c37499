internal import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Running
internal import Steps

/// Plans one job and runs it, or makes a dry run of it, and shows the progress.
struct JobRun {
    private(set) var job: CompiledJob
    var options: RunOptions
    let stop: StopSignal
    let isDryRun: Bool
    let showsProgress: Bool
    /// Whether progress messages are hidden.
    let isQuiet: Bool

    /// Returns a runner for the job; `events` is called on any of its threads.
    private func makeRunner(_ events: @escaping @Sendable (RunEvent) -> Void = { _ in }) -> BackfillRunner {
        BackfillRunner(job, options: options, stop: stop, events: events)
    }

    /// Finds the fields of steps at any depth, and returns the plan of the job; nothing is written.
    /// - Parameter isAsked: whether the command shows the counts to the user or in a report. If `false`, documents are
    ///   counted only if a decision depends on the counts.
    mutating func plan(on pool: ClientPool, isAsked: Bool) async throws -> BackfillPlan {
        let unlocated = makeRunner()
        let located = try await ProgressLine.during("\(job.job.name): reading the paths", isShown: showsProgress) {
            () throws in try unlocated.located(on: pool)
        }
        job = located
        let runner = makeRunner()
        return try await ProgressLine.during("\(job.job.name): planning", isShown: showsProgress) {
            [isDryRun] () throws in try runner.plan(on: pool, isDry: isDryRun, isAsked: isAsked)
        }
    }

    /// Throws an error if the job is paused, if it requires that its next schema is deployed first, or if it would make
    /// too many documents unsyncable for the limit of unsynced documents.
    func check(_ plan: BackfillPlan) throws {
        let runner = makeRunner()
        try runner.checkDeploy(of: plan)
        try runner.checkPause(of: plan)
        try runner.checkHeadroom(of: plan)
    }

    /// Runs the job as planned.
    /// - Parameter report: called with each event, on any of the runner's threads.
    func run(
        _ plan: BackfillPlan, on pool: ClientPool, reporting report: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) async throws -> BackfillReport {
        let progress = ProgressLine(
            job.job.name, total: isDryRun ? plan.documents : plan.needing ?? plan.documents,
            isTotalOfTheRest: !isDryRun && plan.needing != nil, isShown: showsProgress)
        defer { progress.finish() }
        let runner = makeRunner { [isQuiet] event in
            report(event)
            event.show(on: progress, quiet: isQuiet)
        }
        return try await onOwnedThread(name: "backfill") { [isDryRun] () throws in
            try isDryRun ? runner.dryRun(plan, on: pool) : runner.run(plan, on: pool)
        }
    }
}
