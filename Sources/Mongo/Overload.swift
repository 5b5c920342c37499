internal import Concurrency
internal import Synchronization

/// Makes commands wait while the server sheds load.
///
/// While the server refuses a command, the same call keeps sending it again. A write is sent again only if the server
/// had not begun it. The pauses are those of the drivers' specification "client backpressure". A caller that has other
/// work during the wait, such as keeping a lease, sets a limit with ``within(_:_:)``. It then receives the refusal as
/// an error, and sends the command again itself.
package final class Overload: Sendable {
    /// The longest time for which a command is sent again while the server refuses it because of its load.
    ///
    /// After this time, the caller receives the refusal as an error.
    package struct Limit: Sendable {
        /// The longest wait of a command that reads.
        var reads: Duration
        /// The longest wait of a command that writes.
        var writes: Duration
        /// Whether a stop signal ends the wait of a refused command.
        var obeysStop = true

        /// A refused write fails at once, and a refused read waits a few seconds.
        ///
        /// The caller of a write retries it after renewing its lease, and may have to build the write again. A failed
        /// read would cost more, because the caller would have to open its cursor again and read from the beginning.
        package static let short = Limit(reads: .seconds(5), writes: .zero)
        /// A refused command waits a second, because a transaction that has to be repeated would cost the server more.
        package static let brief = Limit(reads: .seconds(1), writes: .seconds(1))
        /// Every refused command fails at once.
        package static let atOnce = Limit(reads: .zero, writes: .zero)
        /// A refused command waits at most five seconds, and a stop signal does not end the wait earlier.
        ///
        /// The command that releases a lease has this limit, because it may be sent after a stop signal.
        package static let last = Limit(reads: .seconds(5), writes: .seconds(5), obeysStop: false)
    }

    /// The limit of the current thread or task; with `nil`, a command waits until the server accepts it or a stop is
    /// requested.
    @TaskLocal package static var limit: Limit?

    private struct State {
        var saidAt: ContinuousClock.Instant?
        var isStopped: @Sendable () -> Bool = { false }
        var onWait: @Sendable (String) -> Void = { _ in }
    }

    private let state = Mutex(State())

    init() {}

    /// Runs `body` with a limit on the waits of its commands; `nil` means no limit.
    ///
    /// If an overloaded server refuses a command that `body` sends, the command is sent again for no longer than
    /// `limit`.
    package static func within<R>(_ limit: Limit?, _ body: () throws -> R) rethrows -> R {
        try $limit.withValue(limit, operation: body)
    }

    /// Returns the pause after the given number of refusals in a row: a random time of at most 10 s.
    ///
    /// The time is random (full jitter), so that clients do not all send their commands again at the same time.
    package static func pause(after refusals: Int) -> Duration {
        let longest = min(10_000, 100 << min(max(refusals, 1) - 1, 10))
        return .milliseconds(Int.random(in: 0...longest))
    }

    /// Sets the callbacks that end and report the wait of a refused command.
    /// - Parameters:
    ///   - isStopped: returns whether a stop was requested.
    ///   - onWait: receives the server's message after a command has waited for 2 s, at most once in 30 s.
    package func set(isStopped: @escaping @Sendable () -> Bool, onWait: @escaping @Sendable (String) -> Void) {
        state.withLock { ($0.isStopped, $0.onWait) = (isStopped, onWait) }
    }

    private static let silence = Duration.seconds(2)
    private static let reminder = Duration.seconds(30)

    /// Sends a command again while the overloaded server refuses it, for no longer than ``limit`` allows.
    /// - Parameter writes: whether the command may change documents.
    func retrying<R>(writes: Bool, _ send: () throws(MongoError) -> R) throws(MongoError) -> R where R: ~Copyable {
        var wait = Wait(self)
        while true {
            do throws(MongoError) { return try send() } catch {
                guard wait.shouldRetry(after: error, writes: writes) else { throw error }
            }
        }
    }

    /// The wait of one command while the server refuses it.
    struct Wait {
        private let overload: Overload
        private let started = ContinuousClock.now
        private var refusals = 0

        init(_ overload: Overload) { self.overload = overload }

        /// Pauses if `error` is a refusal because of the server's load.
        /// - Returns: whether to send the command again; `false` at once for every other error.
        mutating func shouldRetry(after error: MongoError, writes: Bool) -> Bool {
            guard error.isOverload else { return false }
            let isStopped = overload.isStopped
            let limit = Overload.limit
            guard !writes || error.isRefusedUnbegun else { return false }
            refusals += 1
            let pause = Overload.pause(after: refusals)
            if let limit {
                let longest = writes ? limit.writes : limit.reads
                guard started.duration(to: .now) + pause < longest else { return false }
            }
            let shouldStop: () -> Bool = { (limit?.obeysStop ?? true) && isStopped() }
            if shouldStop() { return false }
            overload.say(error.message, after: started.duration(to: .now))
            PosixThread.sleep(pause, unless: shouldStop)
            return !shouldStop()
        }
    }

    /// Pauses for at most a second after a refusal, for a caller that does other work between two attempts.
    func rest(after error: MongoError, refusals: Int) {
        PosixThread.sleep(min(Self.pause(after: refusals), .seconds(1)), unless: isStopped)
    }

    private var isStopped: @Sendable () -> Bool { state.withLock { $0.isStopped } }

    private func say(_ message: String, after waited: Duration) {
        guard waited >= Self.silence else { return }
        let report = state.withLock { state -> (@Sendable (String) -> Void)? in
            if let last = state.saidAt, last.duration(to: .now) < Self.reminder { return nil }
            state.saidAt = .now
            return state.onWait
        }
        report?(message)
    }
}
