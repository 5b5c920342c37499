import BSON
import JobState
import Jobs

/// Keeps a run at the rate at which a consumer takes the run's changes.
///
/// The backlog is the amount of changes that the consumer has not taken yet. It grows with each chunk, and shrinks at
/// the consumer's rate. The run waits while the backlog is more than the consumer takes in ``slack`` seconds.
struct ConsumerPace {
    /// The backlog above which the run waits, as the time in seconds that the consumer needs for it.
    private static let slack = 0.2

    private var total: Int?
    private var ahead = (documents: 0.0, bytes: 0.0)
    private var drainedAt: ContinuousClock.Instant?

    /// Records how many documents the job has changed in all.
    /// - Parameter size: the average document's size in bytes; `nil` if it is not known.
    mutating func note(changed documents: Int, size: Int?) {
        defer { total = documents }
        // The first count adds nothing to the backlog: it includes the documents of earlier runs, which the consumer
        // had time to take.
        guard let total else { return }
        let new = Double(max(0, documents - total))
        ahead.documents += new
        ahead.bytes += new * Double(size ?? 0)
    }

    /// Returns the reason to wait for the consumer now; `nil` if there is none.
    mutating func waitReason(_ rate: ConsumerRate, now: ContinuousClock.Instant) -> WaitReason? {
        let elapsed = drainedAt.map { $0.duration(to: now) / .seconds(1) } ?? 0
        drainedAt = now
        ahead.documents = Self.drained(ahead.documents, by: rate.documents, for: elapsed)
        ahead.bytes = Self.drained(ahead.bytes, by: rate.bytes, for: elapsed)
        let isAhead =
            ahead.documents > Double(rate.documents ?? 0) * Self.slack
            || ahead.bytes > Double(rate.bytes ?? 0) * Self.slack
        guard isAhead else { return nil }
        let value =
            rate.documents == nil
            ? "\(Int(ahead.bytes).grouped) bytes" : "\(Int(ahead.documents).grouped) documents"
        return WaitReason(.consumer, metric: "consumer", value: "\(value) not taken yet", limit: "\(rate)")
    }

    private static func drained(_ amount: Double, by rate: Int?, for seconds: Double) -> Double {
        rate.map { max(0, amount - Double($0) * seconds) } ?? 0
    }
}
