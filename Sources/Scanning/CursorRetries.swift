import BSON
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

/// A reader that resumes after a lost cursor.
protocol ResumingReader {
    /// Calls `body` with each document; after a lost cursor, resumes after the last document that `body` got.
    func readOn(_ body: (borrowing BSONView) throws -> Bool) throws
}

extension ResumingReader {
    /// Reads like ``readOn(_:)``, but an error of `body` ends the reading even if it looks like a lost cursor.
    ///
    /// If the reader resumed after such an error, `body` would get a document twice.
    func readApart(_ body: (borrowing BSONView) throws -> Bool) throws {
        do {
            try readOn { document in
                do { return try body(document) } catch { throw BodyError(cause: error) }
            }
        } catch let error as BodyError {
            throw error.cause
        }
    }
}

/// An error of a reader's `body`, wrapped so that the reader does not take it for the error of a lost cursor.
private struct BodyError: Error {
    let cause: any Error
}
