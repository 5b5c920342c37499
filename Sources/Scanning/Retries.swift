import Glibc
import Mongo

/// How long a lost cursor is opened again.
struct Retries {
    /// How long after the first failure without a document in between.
    let patience: Duration
    private var failedAt: ContinuousClock.Instant?

    init(patience: Duration) { self.patience = patience }

    /// Waits a second before the next attempt.
    /// - Parameter isProgress: whether a document was read since the failure before.
    /// - Throws: the error, when it was tried for long enough.
    mutating func wait(after error: MongoError, isProgress: Bool, isStopped: () -> Bool) throws(MongoError) {
        if isProgress { failedAt = nil }
        let start = failedAt ?? .now
        failedAt = start
        guard start.duration(to: .now) < patience, !isStopped() else { throw error }
        sleep(1)
    }
}
