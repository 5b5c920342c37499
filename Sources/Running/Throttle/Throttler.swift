import BSON
import Concurrency
package import JobState
package import Jobs
import Mongo

/// The throttle, which decides whether a run must wait before a chunk.
///
/// The throttle considers the server metrics, the requests of operators, the times at which the job file allows no
/// writes, the rate at which a consumer takes the changes, and the veto of an outside program or server.
///
/// To keep the cost low, the server metrics are read at most once a second; after a failed reading, they are read again
/// at the next call. A throttler must be used on one thread.
package final class Throttler {
    /// The limits of the job file, with the changes that an operator made to them.
    package private(set) var limits: Job.Limits
    /// The requests that operators made for the job.
    package private(set) var control = Control()
    /// How long the run has waited for each throttle reason so far.
    package private(set) var waits: [ThrottleWait] = []

    private let name: String
    private let overridden: ([LimitOverride]) throws -> Job.Limits
    private let store: StateStore
    private let isFixed: Bool
    private var metricsReader: ServerMetricsReader
    private var rules = ThrottleRules()
    private var pace = ConsumerPace()
    /// Whether the run has reported a wait whose only reason is the consumer of the changes.
    ///
    /// The run reports only the first of these waits, because it waits for the consumer after every chunk.
    private var hasSaidPace = false
    private var reading: (values: ServerMetrics, askedAt: ContinuousClock.Instant)?
    private var failure: String?
    private var lastReading: ContinuousClock.Instant?
    private var veto: VetoAsker?

    private static let interval = Duration.seconds(1)
    /// The pause between two checks during a wait; a stop signal has an effect at the next check.
    private static let tick = Duration.milliseconds(200)
    /// The time after which a wait reports its reasons again, although they are unchanged.
    private static let reminder = Duration.seconds(30)

    /// Creates the throttle of a job; the caller must not use `store` any more.
    /// - Parameters:
    ///   - missing: the groups of metrics that could not be read before the run; if another group cannot be read, the
    ///     run waits. With `nil`, the run is not throttled by any metric that the user lacks the privilege to read.
    ///   - veto: the outside program or server that is asked before chunks and during waits, at most once a second.
    package init(
        _ job: Job, store: consuming StateStore, missing: Set<ServerMetricsReader.Missing>? = nil, veto: Veto? = nil
    ) {
        self.veto = veto.map { VetoAsker($0) }
        name = job.name
        overridden = { try job.limits(overriddenBy: $0) }
        isFixed = missing != nil
        metricsReader = ServerMetricsReader(missing: missing)
        self.store = store
        limits = job.limits
    }

    /// Creates the throttle of a watch or a mirror; operators cannot change its limits.
    init(_ limits: Job.Limits, store: consuming StateStore) {
        name = store.job
        overridden = { _ in limits }
        isFixed = false
        metricsReader = ServerMetricsReader(missing: nil)
        self.store = store
        self.limits = limits
    }

    /// Records how many documents the job has changed in all.
    /// - Parameter size: the average size of a document in bytes; `nil` if the server does not report it.
    package func note(changed documents: Int, size: Int?) {
        // The oplog gets the new values of each changed document and, if there is a journal, the old values. Both
        // together are estimated at twice the size of the document.
        rules.written = size.map { documents * (2 * $0 + Self.entryOverhead) }
        pace.note(changed: documents, size: size)
    }

    /// The estimated number of bytes that one changed document adds to the oplog besides its field values.
    ///
    /// The number includes the oplog entry for the document's entry in the journal.
    private static let entryOverhead = 500

    /// A note for the operator on each group of metrics that cannot be read.
    package var missingGuarantees: [String] { metricsReader.notes }
    /// The groups of metrics that cannot be read, so that they do not throttle the run.
    package var missing: Set<ServerMetricsReader.Missing> { metricsReader.missing }

    /// Returns the reasons to wait now; empty if there are none.
    ///
    /// Each call reads the requests of operators, which costs the read of one document.
    package func waitReasons() -> [WaitReason] {
        var overload: WaitReason?
        do {
            // An overloaded server may refuse to return the requests of operators or the metrics. The commands are not
            // retried here, because the run itself waits and keeps its lease.
            try Overload.within(.atOnce) {
                try readControl()
                guard isDue else { return }
                lastReading = .now
                let askedAt = ContinuousClock.now
                reading = (try metricsReader.read(limits.throttle, on: store.client.client), askedAt)
            }
            failure = nil
        } catch let error as MongoError where error.isOverload {
            (failure, overload) = ("\(error)", WaitReason(error))
        } catch {
            failure = "\(error)"
        }
        let operatorReason = control.paused.map {
            WaitReason(
                .operatorPause, metric: "operator", value: "paused by \($0.by)",
                limit: "shipshape job resume \(name)")
        }
        if let overload { return [operatorReason, veto?.waitReason, overload].compactMap(\.self) }
        let pacing = pace.waitReason(limits.consumer, now: .now)
        return [operatorReason, veto?.waitReason, pacing].compactMap(\.self)
            + rules.waitReasons(reading, failure: failure, limits: limits.throttle, now: .now)
    }

    private var isDue: Bool {
        failure != nil || lastReading.map { $0.duration(to: .now) >= Self.interval } ?? true
    }

    /// Reads the requests of operators.
    ///
    /// If the user lacks access to the state database, a run waits, but a plan continues without the requests.
    private func readControl() throws {
        do {
            let asked = try store.jobs.control()
            if asked.limits != control.limits { limits = try overridden(asked.limits) }
            control = asked
        } catch let error as MongoError where error.isAuthorization && !isFixed {}
    }

    /// Waits until there is no throttle reason, or until the run has to stop.
    /// - Parameter keep: called during a wait with the current reasons, to keep the lease; called at the end of a wait
    ///   with no reasons.
    /// - Returns: why the run has to stop; `nil` if it can continue.
    func wait(
        stop: StopSignal, deadline: ContinuousClock.Instant?,
        events: (RunEvent) -> Void, keep: ([WaitReason]) throws -> Void
    ) throws -> RunStop? {
        let started = ContinuousClock.now
        var said: (reasons: [ThrottleReason], at: ContinuousClock.Instant)?
        var hasWaited = false
        var waitReasons: [WaitReason] = []
        while true {
            let before = ContinuousClock.now
            do { try veto?.ask(stop: stop) { try keep(waitReasons) } } catch is StopAsked {}
            waitReasons = self.waitReasons()
            let ended: RunStop? =
                stop.isRaised ? .signal : deadline.map { .now >= $0 } == true ? .timeBudget : nil
            guard !waitReasons.isEmpty, ended == nil else {
                if hasWaited {
                    // If the run has to stop anyway, an error of `keep`, such as a lost lease, is ignored.
                    if ended == nil { try keep([]) } else { try? keep([]) }
                }
                if said != nil { events(.continuing(seconds: started.duration(to: .now).seconds)) }
                return ended
            }
            hasWaited = true
            let reasons = waitReasons.map(\.reason)
            let isPaced = reasons == [.consumer]
            if isPaced, hasSaidPace, said == nil {
                // If the consumer is the only reason, the run reports only the first wait, because it waits for the
                // consumer after every chunk.
            } else if said.map({ $0.reasons != reasons || $0.at.duration(to: .now) > Self.reminder }) ?? true {
                if isPaced { hasSaidPace = true }
                said = (reasons, .now)
                events(.waiting(waitReasons))
            }
            try keep(waitReasons)
            PosixThread.sleep(Self.tick)
            count(waitReasons, before.duration(to: .now))
        }
    }

    /// Adds `time` to the time that the run has waited for each of the reasons.
    func count(_ waitReasons: [WaitReason], _ time: Duration) {
        for waitReason in waitReasons {
            if let index = waits.firstIndex(where: { $0.waitReason.reason == waitReason.reason }) {
                waits[index].waitReason = waitReason
                waits[index].seconds += time.seconds
            } else {
                waits.append(ThrottleWait(waitReason: waitReason, seconds: time.seconds))
            }
        }
    }
}

/// How long a run waited for one throttle reason.
package struct ThrottleWait: Hashable, Sendable {
    /// The throttle reason, with its metric, value and limit from the end of the last wait.
    package var waitReason: WaitReason
    /// How long the run waited for the reason, in seconds; several reasons may apply at the same time.
    package var seconds: Double
}
