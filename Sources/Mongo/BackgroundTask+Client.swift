package import Concurrency

extension BackgroundTask {
    /// Starts work with a client of its own, whose commands wait for a server that sheds load as long as the caller's
    /// do.
    ///
    /// A read that is left alone goes on until the server ends it, which it does once the client is gone.
    package convenience init(on pool: ClientPool, _ body: @Sendable @escaping (borrowing Client) throws -> R) {
        let limit = Overload.limit
        self.init { try Overload.within(limit) { try body(try pool.client()) } }
    }
}
