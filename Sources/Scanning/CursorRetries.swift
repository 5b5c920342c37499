import Concurrency
import Mongo

/// Retries after a lost cursor.
extension Retries {
    /// Waits after a failure until the time of the next attempt.
    /// - Parameter isProgress: Whether a document was read since the previous failure.
    /// - Throws: The error of the failure, if the time for retries is over or the scan was stopped.
    mutating func wait(after error: MongoError, isProgress: Bool, isStopped: () -> Bool) throws(MongoError) {
        if isProgress { succeeded() }
        guard !isStopped(), let pause = pause(afterFailureAt: .now) else { throw error }
        PosixThread.sleep(pause, unless: isStopped)
    }
}

/// An error of a reader's `body`, wrapped so that the reader does not take it for the error of a lost cursor.
///
/// After a lost cursor, a reader resumes, so `body` would get a document twice.
struct BodyError: Error {
    let cause: any Error
}
