import Concurrency
import JobState
import Jobs
import Mongo

extension BackgroundTask {
    /// Starts work with a client of its own.
    ///
    /// A read that is left alone goes on until the server ends it, which it does once the client is gone.
    convenience init(on pool: ClientPool, _ body: @Sendable @escaping (borrowing Client) throws -> R) {
        self.init { try body(try pool.client()) }
    }
}
