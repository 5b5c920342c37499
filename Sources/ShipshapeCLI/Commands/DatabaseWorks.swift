internal import Backfill
internal import Concurrency
internal import Jobs
internal import Logging
internal import Mongo
internal import Reporting
internal import Running
internal import Scanning
internal import Steps
internal import Synchronization

/// The jobs of a backfill of many databases, run one after the other, and what became of each.
struct DatabaseWorks {
    private let flags: BackfillCommand
    private let pool: ClientPool
    private let stop: StopSignal
    private let monitor: RunMonitor
    private let timeline: TimelineKeeper
    /// How many there are.
    private let count: Int
    private let started = ContinuousClock.now
    /// What became of the job in each database, once the run came to it, or had ended before.
    private(set) var entries: [String: DatabasesReport.Entry] = [:]
    /// Where the run ended early, and why.
    private(set) var ended: (database: String, end: DatabasesReport.End)?
    /// The codes other than 0, in the order in which they came.
    private var codes: [ExitStatus] = []

    init(
        _ count: Int, flags: BackfillCommand, on pool: ClientPool, stop: StopSignal, monitor: RunMonitor,
        timeline: TimelineKeeper
    ) {
        (self.count, self.flags, self.pool, self.stop) = (count, flags, pool, stop)
        (self.monitor, self.timeline) = (monitor, timeline)
    }

    /// The code of the whole; `nil` where nothing is left.
    ///
    /// It is that of what ended the run early. Else it is the first of a job that somebody has to look at, of one that another
    /// run may mend, of one that left findings.
    var status: ExitStatus? {
        if ended != nil { return codes.last }
        return codes.first { !$0.isPassing && $0 != .findings } ?? codes.first(where: \.isPassing) ?? codes.first
    }

    /// Runs the job of a database, unless the run has ended.
    /// - Parameter wasDone: whether an earlier run had done it.
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
            tell(name, "\(Self.words(for: report)), changed \(report.work.modified.documents)", code)
            if let stop = report.outcome.stop, stop.isOfAll { return end(at: database, .stop(stop), .stopped) }
            if let code { codes.append(code) }
        } catch {
            let (code, message) = (ExitStatus(for: error), ExitStatus.message(for: error))
            // What it waited for is none of the next one's.
            monitor.take(.goingOn(seconds: 0))
            entries[database] = entry(.failed(message, changed: changed.value), code.rawValue)
            tell(name, message, code)
            if stop.isRaised { return end(at: database, .stop(.signal), .stopped) }
            if Self.isOfAll(error) { return end(at: database, .error(message), code) }
            codes.append(code)
        }
    }

    private func report(of job: CompiledJob, counting changed: ChangeCounter) async throws -> BackfillReport {
        var options = flags.options
        options.maxRuntime = remaining
        let work = JobRun(
            job: job, options: options, stop: stop, isDryRun: flags.dryRun, showsProgress: flags.output.showsProgress,
            isQuiet: flags.output.quiet)
        let plan = try await work.plan(on: pool, isAsked: flags.output.isKept)
        if !flags.dryRun { try work.check(plan) }
        return try await work.run(plan, on: pool) { [monitor, timeline] event in
            timeline.add(event)
            monitor.take(event)
            changed.add(event)
        }
    }

    /// What is left of the time that the run may take; `nil` where that has no end.
    private var remaining: Duration? {
        flags.runFlags.maxRuntime.map { max(.zero, $0.duration - started.duration(to: .now)) }
    }

    /// Why nothing more is begun.
    private var reasonToStop: RunStop? {
        if stop.isRaised { return .signal }
        return remaining == .zero ? .timeBudget : nil
    }

    private mutating func end(at database: String, _ end: DatabasesReport.End, _ code: ExitStatus) {
        ended = (database, end)
        codes.append(code)
    }

    /// Whether the job would fail alike in the next database.
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

    /// Says what became of a job; what is well is a matter of progress.
    private func tell(_ job: String, _ what: String, _ code: ExitStatus?) {
        let level: Logger.Level = code == nil ? .info : code == .findings || code == .stopped ? .notice : .error
        guard !flags.output.quiet || level >= .notice else { return }
        Log.logger(of: job).log(level: level, "\(entries.count.grouped) of \(count.grouped): \(what)")
    }
}

/// Counts what a job's chunks change, as its threads tell it.
private final class ChangeCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ event: RunEvent) {
        if case .chunk(_, let modified) = event { count.add(modified, ordering: .relaxed) }
    }
}
