import BSON
import Concurrency
package import JobState
package import Jobs
import Mongo

/// All that may make a run wait before a chunk: the deployment's state, an operator, the time of day, somebody else's veto.
///
/// The server's health is asked for once a second at most, and not per chunk, so that looking costs nothing. Used on one thread.
package final class Throttler {
    /// The job's limits, those that an operator set for it included.
    package private(set) var limits: Job.Limits
    /// What operators asked of the job.
    package private(set) var control = Control()
    /// How long each reason has held, and what it said last.
    package private(set) var waits: [ThrottleWait] = []

    private let name: String
    private let overridden: ([LimitOverride]) throws -> Job.Limits
    private let store: StateStore
    private let isSettled: Bool
    private var probe: ServerMetricsReader
    private var arithmetic = ThrottleRules()
    private var reading: (values: ServerMetrics, askedAt: ContinuousClock.Instant)?
    private var failure: String?
    private var lastLook: ContinuousClock.Instant?
    private var veto: VetoAsker?

    private static let interval = Duration.seconds(1)
    /// How often a wait looks around; a stop signal is obeyed within it.
    private static let tick = Duration.milliseconds(200)
    /// How often a wait says anew what it waits for.
    private static let reminder = Duration.seconds(30)

    /// Takes the throttle of a job; `store` is for them alone.
    /// - Parameter missing: the guarantees that the plan was made without: what else may not be read any more is waited
    ///   for. `nil` goes without whatever the user may not read at the first look.
    /// - Parameter veto: who else is asked while the run waits, or would go on.
    package init(
        _ job: Job, store: consuming StateStore, missing: Set<ServerMetricsReader.Missing>? = nil, veto: Veto? = nil
    ) {
        self.veto = veto.map { VetoAsker($0) }
        name = job.name
        overridden = { try job.limits(overriddenBy: $0) }
        isSettled = missing != nil
        probe = ServerMetricsReader(missing: missing)
        self.store = store
        limits = job.limits
    }

    /// Takes the throttle of work that nobody steers from elsewhere.
    init(_ limits: Job.Limits, store: consuming StateStore) {
        name = store.job
        overridden = { _ in limits }
        isSettled = false
        probe = ServerMetricsReader(missing: nil)
        self.store = store
        self.limits = limits
    }

    /// Takes note of how many documents the job has changed.
    /// - Parameter size: the average document's bytes; `nil` where the server does not tell.
    package func note(changed documents: Int, size: Int?) {
        // The oplog gets the change and, with the journal, what was there before: at most twice a document.
        arithmetic.written = size.map { documents * (2 * $0 + Self.entryOverhead) }
    }

    /// The bytes that the entries of a change and of its journal take besides values.
    private static let entryOverhead = 500

    /// The guarantees that are missing by what was read so far.
    package var missingGuarantees: [String] { probe.notes }
    /// The same as the next look takes them.
    package var missing: Set<ServerMetricsReader.Missing> { probe.missing }

    /// What throttles now.
    ///
    /// What operators asked for is read each time, which is a look at one document.
    package func holds() -> [Hold] {
        var overload: Hold?
        do {
            // The wait here keeps the lease.
            try Overload.within(.atOnce) {
                try readControl()
                guard isDue else { return }
                lastLook = .now
                let askedAt = ContinuousClock.now
                reading = (try probe.read(limits.throttle, on: store.client.client), askedAt)
            }
            failure = nil
        } catch let error as MongoError where error.isOverload {
            (failure, overload) = ("\(error)", Hold(overload: error))
        } catch {
            failure = "\(error)"
        }
        let operatorHold = control.paused.map {
            Hold(
                .operatorPause, metric: "operator", value: "paused by \($0.by)",
                limit: "shipshape resume \(name)")
        }
        if let overload { return [operatorHold, veto?.hold, overload].compactMap(\.self) }
        return [operatorHold, veto?.hold].compactMap(\.self)
            + arithmetic.holds(reading, failure: failure, limits: limits.throttle, now: .now)
    }

    private var isDue: Bool {
        failure != nil || lastLook.map { $0.duration(to: .now) >= Self.interval } ?? true
    }

    /// Who may only read the data may not see the state; a dry run goes without.
    private func readControl() throws {
        do {
            let asked = try store.jobs.control()
            if asked.limits != control.limits { limits = try overridden(asked.limits) }
            control = asked
        } catch let error as MongoError where error.isAuthorization && !isSettled {}
    }

    /// Waits until nothing throttles.
    /// - Parameter keep: called while it waits, with what for, to keep the lease; and once without, when it goes on.
    /// - Returns: the reason to stop when one came meanwhile.
    func wait(
        stop: StopSignal, deadline: ContinuousClock.Instant?,
        events: (RunEvent) -> Void, keep: ([Hold]) throws -> Void
    ) throws -> RunStop? {
        let started = ContinuousClock.now
        var said: (reasons: [ThrottleReason], at: ContinuousClock.Instant)?
        var holds: [Hold] = []
        while true {
            let before = ContinuousClock.now
            do { try veto?.ask(stop: stop) { try keep(holds) } } catch is StopAsked {}
            holds = self.holds()
            let ended: RunStop? =
                stop.isRaised ? .signal : deadline.map { .now >= $0 } == true ? .timeBudget : nil
            guard !holds.isEmpty, ended == nil else {
                if said != nil {
                    // Who is asked to stop stops, even when its lease is gone meanwhile.
                    if ended == nil { try keep([]) } else { try? keep([]) }
                    events(.goingOn(seconds: started.duration(to: .now).seconds))
                }
                return ended
            }
            let reasons = holds.map(\.reason)
            if said.map({ $0.reasons != reasons || $0.at.duration(to: .now) > Self.reminder }) ?? true {
                said = (reasons, .now)
                events(.waiting(holds))
            }
            try keep(holds)
            PosixThread.sleep(Self.tick)
            count(holds, before.duration(to: .now))
        }
    }

    /// Adds to how long reasons have held.
    func count(_ holds: [Hold], _ time: Duration) {
        for hold in holds {
            if let index = waits.firstIndex(where: { $0.hold.reason == hold.reason }) {
                waits[index].hold = hold
                waits[index].seconds += time.seconds
            } else {
                waits.append(ThrottleWait(hold: hold, seconds: time.seconds))
            }
        }
    }
}
