internal import Concurrency
internal import Synchronization

/// How a command waits while the server sheds load.
///
/// A command that was refused so was not begun, and is sent again in its place: after the pauses of the drivers'
/// specification "client backpressure", and for as long as it takes. A caller that has more to do in the meantime, such
/// as to keep a lease, sets a limit by ``within(_:_:)`` and waits by itself.
package final class Overload: Sendable {
    /// How long a command of the current thread waits in its place.
    package struct Limit: Sendable {
        /// How long a command that reads waits.
        var reads: Duration
        /// How long a command that writes waits.
        var writes: Duration
        /// Whether a request to stop ends the wait.
        var heedsStop = true

        /// A command that writes is returned at once, because it may have to be rebuilt for a lease that was renewed; a
        /// command that reads waits a few seconds, because a cursor would have to be read again from its beginning.
        package static let short = Limit(reads: .seconds(5), writes: .zero)
        /// Every command is returned at once.
        package static let atOnce = Limit(reads: .zero, writes: .zero)
        /// Every command waits a few seconds, also after a request to stop: for what gives a lease back.
        package static let last = Limit(reads: .seconds(5), writes: .seconds(5), heedsStop: false)
    }

    /// The limit of the thread or task; `nil` waits until the server takes the command or stopping is asked for.
    @TaskLocal package static var limit: Limit?

    private struct State {
        var last: ContinuousClock.Instant?
        var saidAt: ContinuousClock.Instant?
        var isStopped: @Sendable () -> Bool = { false }
        var onWait: @Sendable (String) -> Void = { _ in }
    }

    private let state = Mutex(State())

    init() {}

    /// Runs `body`, whose commands wait no longer than `limit`; `nil` sets none.
    package static func within<R>(_ limit: Limit?, _ body: () throws -> R) rethrows -> R {
        try $limit.withValue(limit, operation: body)
    }

    /// The pause after so many refusals in a row: up to 10 s, with full jitter, so that clients do not return at once.
    package static func pause(after refusals: Int) -> Duration {
        let longest = min(10_000, 100 << min(max(refusals, 1) - 1, 10))
        return .milliseconds(Int.random(in: 0...longest))
    }

    /// Sets how waits that no caller reports are ended and reported.
    /// - Parameters:
    ///   - isStopped: whether stopping was asked for.
    ///   - onWait: takes the server's message, at most every half minute, once a command has waited for seconds.
    package func set(isStopped: @escaping @Sendable () -> Bool, onWait: @escaping @Sendable (String) -> Void) {
        state.withLock { ($0.isStopped, $0.onWait) = (isStopped, onWait) }
    }

    /// Whether the server refused a command for its load within the last ten seconds.
    package var isRecent: Bool { state.withLock { $0.last.map { $0.duration(to: .now) < .seconds(10) } ?? false } }

    private static let silence = Duration.seconds(2)
    private static let reminder = Duration.seconds(30)

    /// Sends a command until the server takes it.
    /// - Parameter writes: whether it may change something.
    func bridging<R>(writes: Bool, _ send: () throws(MongoError) -> R) throws(MongoError) -> R where R: ~Copyable {
        var wait = Wait(self)
        while true {
            do throws(MongoError) { return try send() } catch {
                guard wait.goesOn(after: error, writes: writes) else { throw error }
            }
        }
    }

    /// The wait of one command.
    struct Wait {
        private let overload: Overload
        private let started = ContinuousClock.now
        private var refusals = 0

        init(_ overload: Overload) { self.overload = overload }

        /// Pauses after a refusal for the server's load.
        /// - Returns: whether to send the command again; `false` at once for every other error.
        mutating func goesOn(after error: MongoError, writes: Bool) -> Bool {
            guard error.isOverload else { return false }
            let isStopped = overload.note()
            let limit = Overload.limit
            guard !writes || error.isRefusedUnbegun else { return false }
            refusals += 1
            let pause = Overload.pause(after: refusals)
            if let limit {
                let most = writes ? limit.writes : limit.reads
                guard started.duration(to: .now) + pause < most else { return false }
            }
            let heeds: () -> Bool = { limit?.heedsStop ?? true ? isStopped() : false }
            if heeds() { return false }
            overload.say(error.message, after: started.duration(to: .now))
            PosixThread.sleep(pause, unless: heeds)
            return !heeds()
        }
    }

    /// Pauses for a second at most after a refusal, for a caller that looks around between two attempts.
    func rest(after error: MongoError, refusals: Int) {
        let isStopped = note()
        PosixThread.sleep(min(Self.pause(after: refusals), .seconds(1)), unless: isStopped)
    }

    private func note() -> @Sendable () -> Bool {
        state.withLock {
            $0.last = .now
            return $0.isStopped
        }
    }

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
