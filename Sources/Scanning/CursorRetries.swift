import Concurrency
import Mongo

/// How a lost cursor is opened again.
extension Retries {
    /// Waits before the next attempt.
    /// - Parameter isProgress: whether a document was read since the failure before.
    /// - Throws: the error, when it was tried for long enough.
    mutating func wait(after error: MongoError, isProgress: Bool, isStopped: () -> Bool) throws(MongoError) {
        if isProgress { succeeded() }
        guard !isStopped(), let pause = pause(afterFailureAt: .now) else { throw error }
        PosixThread.sleep(pause, unless: isStopped)
    }
}
