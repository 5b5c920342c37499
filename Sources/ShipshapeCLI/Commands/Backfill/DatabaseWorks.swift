internal import BSON
internal import Concurrency
internal import JobReports
internal import Jobs
internal import Logging
internal import Mongo
internal import Reporting
internal import Running
internal import Scanning
internal import Steps
internal import Synchronization

/// Runs a backfill in many databases, one after the other, with a job for each, and keeps the outcomes for the report.
struct DatabaseWorks {
    private let flags: BackfillCommand
    private let pool: ClientPool
    private let stop: StopSignal
    private let monitor: RunMonitor
    private let timeline: TimelineKeeper
    private let count: Int
    private let started = ContinuousClock.now
    /// The outcome of each database's job, by database, including the databases that the run did not reach.
    private(set) var entries: [String: DatabasesReport.Entry] = [:]
    /// The database at which the run ended early, and the reason; `nil` if the run did not end early.
    private(set) var ended: (database: String, end: DatabasesReport.End)?
    /// The exit codes of the jobs, in the order of the jobs and without the code 0.
    ///
    /// If the run ended early, the last code is the one for the reason of the early end.
    private var codes: [ExitStatus] = []

    init(
        _ count: Int, flags: BackfillCommand, on pool: ClientPool, stop: StopSignal, monitor: RunMonitor,
        timeline: TimelineKeeper
    ) {
        (self.count, self.flags, self.pool, self.stop) = (count, flags, pool, stop)
        (self.monitor, self.timeline) = (monitor, timeline)
    }

    /// The exit code of the whole run; `nil` if it is 0.
    ///
    /// If the run ended early, the reason for its end decides the code. Otherwise, the code is that of the most serious
    /// result: a failure that needs the operator, then a failure that another run may resolve, then findings. Among
    /// equally serious failures, the first one decides.
    var status: ExitStatus? {
        if ended != nil { return codes.last }
        return codes.first { !$0.isPassing && $0 != .findings } ?? codes.first(where: \.isPassing) ?? codes.first
    }

    /// Runs the job of a database and stores the outcome.
    ///
    /// If the run has ended early, only stores that the run did not reach the database.
    /// - Parameter wasDone: whether an earlier run finished the job in this database.
    mutating func run(_ job: CompiledJob, in database: String, wasDone: Bool) async {
        let name = job.job.name
        func entry(_ outcome: DatabasesReport.Outcome, _ code: Int32?) -> DatabasesReport.Entry {
            DatabasesReport.Entry(database: database, job: name, outcome: outcome, exitCode: code.map { Int($0) })
        }
        if ended == nil, let reason = reasonToStop { end(at: database, .stop(reason), .stopped) }
        guard ended == nil else { return entries[database] = entry(.notReached(wasDone: wasDone), nil) }
        let changed = ChangeCounter()
        do {
            let report = try await report(of: job, counting: changed)
            let code = ExitStatus(of: report)
            entries[database] = entry(.reported(report), code?.rawValue ?? 0)
            announce(name, "\(Self.words(for: report)), changed \(report.work.modified.documents)", code)
            if let stop = report.outcome.stop, stop.isOfAll { return end(at: database, .stop(stop), .stopped) }
            if let code { codes.append(code) }
        } catch {
            let (code, message) = (ExitStatus(for: error), ExitStatus.message(for: error))
            // The reasons why this job waited do not apply to the next job, so the metrics no longer show them.
            monitor.take(.continuing(seconds: 0))
            entries[database] = entry(.failed(message, changed: changed.value), code.rawValue)
            announce(name, message, code)
            if stop.isRaised { return end(at: database, .stop(.signal), .stopped) }
            if Self.isOfAll(error) { return end(at: database, .error(message), code) }
            codes.append(code)
        }
    }

    private func report(of job: CompiledJob, counting changed: ChangeCounter) async throws -> BackfillReport {
        var options = flags.options
        options.maxRuntime = remaining
        var work = JobRun(
            job: job, options: options, stop: stop, isDryRun: flags.preview.dryRun,
            showsProgress: flags.output.showsProgress,
            isQuiet: flags.output.quiet)
        let plan = try await work.plan(on: pool, isAsked: flags.output.isKept)
        if !flags.preview.dryRun { try work.check(plan) }
        return try await work.run(plan, on: pool) { [monitor, timeline] event in
            timeline.add(event)
            monitor.take(event)
            changed.add(event)
        }
    }

    private var remaining: Duration? {
        flags.runFlags.maxRuntime.map { max(.zero, $0.duration - started.duration(to: .now)) }
    }

    private var reasonToStop: RunStop? {
        if stop.isRaised { return .signal }
        return remaining == .zero ? .timeBudget : nil
    }

    private mutating func end(at database: String, _ end: DatabasesReport.End, _ code: ExitStatus) {
        ended = (database, end)
        codes.append(code)
    }

    /// Whether the job would probably fail with the same error in every other database, so that the run ends.
    private static func isOfAll(_ error: any Error) -> Bool {
        switch error {
        case let error as MongoError: error.isTransient || error.isAuthentication || error.isConfiguration
        case is LedgerUnreadable: true
        default: ExitStatus(for: error) == .bug
        }
    }

    private static func words(for report: BackfillReport) -> String {
        switch report.outcome {
        case .dryRun: "dry run"
        case .nothingToDo: "nothing to do"
        case .done: report.hasFindings ? "done, with findings" : "done"
        case .stopped(let stop): "stopped by \(stop.reason)"
        }
    }

    /// Logs the outcome of a job; a success counts as progress, which `--quiet` hides.
    private func announce(_ job: String, _ what: String, _ code: ExitStatus?) {
        let level: Logger.Level = code == nil ? .info : code == .findings || code == .stopped ? .notice : .error
        guard !flags.output.quiet || level >= .notice else { return }
        Log.logger(of: job).log(level: level, "\(entries.count.grouped) of \(count.grouped): \(what)")
    }
}

/// Counts the documents that a job has changed, from the events of its threads.
private final class ChangeCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ event: RunEvent) {
        if case .chunk(_, let modified) = event { count.add(modified, ordering: .relaxed) }
    }
}
