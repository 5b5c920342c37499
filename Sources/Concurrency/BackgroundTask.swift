internal import Synchronization

/// Work that runs while another thread waits for it, such as a read of a whole collection.
///
/// While the work runs, the waiting thread can renew a lease and notice a request to stop.
package final class BackgroundTask<R: Sendable>: Sendable {
    private let outcome = Mutex<Result<R, any Error>?>(nil)
    private let isOver = Semaphore()
    /// The Swift task, for work that was started with `init(running:)`; otherwise `nil`.
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The interval at which the waiting thread checks for a request to stop and calls `whileWaiting`, in milliseconds.
    private static var tick: Int { 200 }

    /// Starts work on its own thread.
    /// - Parameter name: the name of the thread.
    package init(name: String = "background", _ body: @Sendable @escaping () throws -> R) {
        PosixThread.start(name: name) { [self] in
            let outcome = Result { () throws -> R in try body() }
            self.outcome.withLock { $0 = outcome }
            isOver.signal()
        }
    }

    /// Starts work as a Swift task, for a caller that waits for it on a thread outside of Swift's concurrency.
    package init(running body: @Sendable @escaping () async throws -> R) {
        let task = Task { [self] in
            let outcome: Result<R, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            self.outcome.withLock { $0 = outcome }
            isOver.signal()
        }
        self.task.withLock { $0 = task }
    }

    /// Waits for the result, and calls `whileWaiting` at intervals.
    ///
    /// If a request to stop or an error of `whileWaiting` ends the wait, the work still continues until it ends by
    /// itself.
    /// - Throws: the work's error; ``StopAsked`` after a request to stop; an error of `whileWaiting`.
    package func wait(stop: StopSignal, whileWaiting: () throws -> Void) throws -> R {
        while !isOver.wait(milliseconds: Self.tick) {
            guard !stop.isRaised else { throw StopAsked() }
            try whileWaiting()
        }
        return try result().get()
    }

    /// Cancels work that was started as a Swift task, and waits for its end; may be called only once.
    package func cancel() {
        task.withLock { $0?.cancel() }
        isOver.wait()
    }

    /// Waits for the end of the work and returns its result; may be called only once.
    package func end() -> Result<R, any Error> {
        isOver.wait()
        return result()
    }

    private func result() -> Result<R, any Error> {
        guard let outcome = outcome.withLock({ $0 }) else { preconditionFailure("signalled once the result is there") }
        return outcome
    }
}
