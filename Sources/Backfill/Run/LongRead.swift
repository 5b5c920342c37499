import Mongo
import Synchronization

/// A read over a whole collection, on a thread and a client of its own: who waits for it keeps a lease meanwhile, and
/// hears that it is to stop.
///
/// A read that is left alone goes on until the server ends it, which it does once the client is gone.
final class LongRead<R: Sendable>: Sendable {
    private let result = Mutex<Result<R, any Error>?>(nil)
    private let isOver = Semaphore()

    /// How often who waits looks around.
    private static var tick: Int { 200 }

    init(on pool: ClientPool, _ body: @Sendable @escaping (borrowing Client) throws -> R) {
        PosixThread.start(name: "long read") { [self] in
            let outcome = Result { () throws -> R in
                let client = try pool.client()
                return try body(client)
            }
            result.withLock { $0 = outcome }
            isOver.signal()
        }
    }

    /// Waits for the result, and calls `meanwhile` now and then.
    /// - Throws: what the read throws; ``StopAsked``; what `meanwhile` throws.
    func wait(stop: StopSignal, meanwhile: () throws -> Void) throws -> R {
        while !isOver.wait(milliseconds: Self.tick) {
            guard !stop.isRaised else { throw StopAsked() }
            try meanwhile()
        }
        guard let outcome = result.withLock({ $0 }) else { preconditionFailure("signalled once the result is there") }
        return try outcome.get()
    }
}

/// A signal came while something was read that takes long.
struct StopAsked: Error {}

extension RunLoop {
    /// Reads the collection of the job as long as it takes, and keeps the lease meanwhile.
    mutating func reading<R: Sendable>(_ body: @Sendable @escaping (MongoCollection) throws -> R) throws -> R {
        let (namespace, patience) = (job.job.namespace, runner.patience)
        let read = LongRead(on: pool) { client in
            let collection = client.collection(namespace)
            return try patience.bridging { try body(collection) }
        }
        return try read.wait(stop: runner.stop) { if holding.isHalfOver { try renew() } }
    }
}
