import Mongo
import Synchronization

/// Work on a thread and a client of its own: a read over a whole collection, while who waits for it keeps a lease and hears
/// that it is to stop; or a part of what is done side by side.
///
/// A read that is left alone goes on until the server ends it, which it does once the client is gone.
final class Aside<R: Sendable>: Sendable {
    private let outcome = Mutex<Result<R, any Error>?>(nil)
    private let isOver = Semaphore()

    /// How often who waits looks around, in milliseconds.
    private static var tick: Int { 200 }

    init(on pool: ClientPool, _ body: @Sendable @escaping (borrowing Client) throws -> R) {
        PosixThread.start(name: "aside") { [self] in
            let outcome = Result { () throws -> R in
                let client = try pool.client()
                return try body(client)
            }
            self.outcome.withLock { $0 = outcome }
            isOver.signal()
        }
    }

    /// Waits for the result, and calls `meanwhile` now and then.
    /// - Throws: what the work throws; ``StopAsked``; what `meanwhile` throws.
    func wait(stop: StopSignal, meanwhile: () throws -> Void) throws -> R {
        while !isOver.wait(milliseconds: Self.tick) {
            guard !stop.isRaised else { throw StopAsked() }
            try meanwhile()
        }
        return try result().get()
    }

    /// Waits to the end; once.
    func end() -> Result<R, any Error> {
        isOver.wait()
        return result()
    }

    private func result() -> Result<R, any Error> {
        guard let outcome = outcome.withLock({ $0 }) else { preconditionFailure("signalled once the result is there") }
        return outcome
    }
}

/// A signal came while something was read that takes long.
struct StopAsked: Error {}
