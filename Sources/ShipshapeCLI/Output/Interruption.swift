internal import Concurrency
internal import Glibc
internal import Synchronization

/// What a signal to end does: end the process while nothing is at stake, ask the work to stop while something is.
final class Interruption: Sendable {
    /// Raised when the work is asked to stop.
    let stop = StopSignal()
    private let isWorking = Atomic<Bool>(false)
    private let idle: String
    private static let latest = Mutex<StopSignal?>(nil)

    /// Whether the command was asked to stop.
    static var isRaised: Bool { latest.withLock { $0?.isRaised ?? false } }

    /// Until ``beginWork()`` a signal ends the process at once: a question may be open, or a server be looked for.
    /// - Parameter idle: what is said then.
    init(_ idle: String = "stopped by a signal; nothing was written") {
        self.idle = idle
        Self.latest.withLock { $0 = stop }
    }

    /// From now on a signal asks the work to stop at its next safe place.
    func beginWork() { isWorking.store(true, ordering: .relaxed) }

    /// From now on it ends the process at once again.
    func endWork() { isWorking.store(false, ordering: .relaxed) }

    /// Starts to listen.
    func listen() -> TerminationSignals {
        TerminationSignals { [self] in
            if isWorking.load(ordering: .relaxed) { return stop.raise() }
            Console.exit(idle)
        }
    }
}
