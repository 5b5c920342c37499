internal import Concurrency
internal import Glibc
internal import Synchronization

/// What a signal to end does: end the process while nothing is at stake, ask the work to stop while something is.
final class Interruption: Sendable {
    /// Raised when the work is asked to stop.
    let stop = StopSignal()
    private let isWorking = Atomic<Bool>(false)

    /// Until ``beginWork()`` a signal ends the process at once: a question may be open, or a server be looked for.
    init() {}

    /// From now on a signal asks the work to stop at its next safe place.
    func beginWork() { isWorking.store(true, ordering: .relaxed) }

    /// Starts to listen.
    func listen() -> TerminationSignals {
        TerminationSignals { [self] in
            if isWorking.load(ordering: .relaxed) { return stop.raise() }
            Console.exit("stopped by a signal; nothing was written")
        }
    }
}
