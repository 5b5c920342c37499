internal import Concurrency
internal import Foundation
internal import Glibc
internal import Synchronization

/// Turns a termination signal into a request to stop; more than a second later, the same signal ends the process.
///
/// The process listens for the signals from its start. Until a command registers an action, a signal ends the process
/// with the exit code of a stop, because no work has begun.
final class TerminationSignals: Sendable {
    /// The signals that ask to stop, from the keyboard, a service manager or a terminal that is closed.
    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private struct Listener {
        let id: UInt64
        let action: @Sendable () -> Void
    }

    private struct State {
        /// The listeners; a signal calls only the last one.
        var listeners: [Listener] = []
        var next: UInt64 = 0
    }

    private static let state = Mutex(State())
    /// The dispatch sources that report the signals to the process, created once and never released, so that they stay
    /// active.
    private nonisolated(unsafe) static let sources = install()

    private let id: UInt64

    /// Calls `action` for a signal, on a queue of the system, instead of the actions of earlier listeners.
    ///
    /// After this initializer has returned, no signal is missed.
    init(_ action: @escaping @Sendable () -> Void) {
        id = Self.state.withLock { state in
            state.next += 1
            state.listeners.append(Listener(id: state.next, action: action))
            return state.next
        }
        Self.listen()
    }

    /// Stops listening, so that the listener before this one gets the signals again.
    func cancel() { Self.state.withLock { $0.listeners.removeAll { [id] in $0.id == id } } }

    /// Starts to listen for termination signals, for as long as the process lives.
    static func listen() { _ = unsafe sources }

    private static func install() -> [any DispatchSourceSignal] {
        let listening = DispatchSemaphore(value: 0)
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            let before = signal(number, SIG_IGN)
            // `nohup` makes the process ignore SIGHUP. The signal has to stay ignored.
            if number == SIGHUP, unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                continue
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                heard()
                // The first signal stops the work as soon as nothing is half done. A user who cannot wait sends the
                // signal again, which ends the process. A second signal within one second has no further effect:
                // `timeout` signals the process and its group, so the process gets each of its signals twice.
                DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + 1) {
                    _ = signal(number, SIG_DFL)
                }
            }
            source.setRegistrationHandler { listening.signal() }
            source.activate()
            sources.append(source)
        }
        // A signal that comes before its source is registered would be lost, so the function waits for each source, at
        // most a second.
        for _ in sources { _ = listening.wait(timeout: .now() + 1) }
        return sources
    }

    private static func heard() {
        guard let listener = state.withLock({ $0.listeners.last }) else { Console.exit("stopped by a signal") }
        listener.action()
    }
}

/// Decides the effect of a termination signal: during the work, it asks the work to stop; else, it ends the process.
final class Interruption: Sendable {
    /// The flag that asks the work to stop; a termination signal during the work raises it.
    let stop = StopSignal()
    private let isWorking = Atomic<Bool>(false)
    private let idle: String
    private static let latest = Mutex<StopSignal?>(nil)

    /// Whether the command was asked to stop.
    static var isRaised: Bool { latest.withLock { $0?.isRaised ?? false } }

    /// Creates an interruption.
    ///
    /// Until ``beginWork()``, a signal ends the process at once, for instance while the program waits for the user's
    /// answer to a question.
    /// - Parameter idle: the message that the program prints when a signal ends it at once.
    init(_ idle: String = "stopped by a signal; nothing was written") {
        self.idle = idle
        Self.latest.withLock { $0 = stop }
    }

    /// Begins the work: from this call on, a signal asks the work to stop as soon as nothing is half done.
    func beginWork() { isWorking.store(true, ordering: .relaxed) }

    /// Ends the work: from this call on, a signal ends the process at once, as before ``beginWork()``.
    func endWork() { isWorking.store(false, ordering: .relaxed) }

    func listen() -> TerminationSignals {
        TerminationSignals { [self] in
            if isWorking.load(ordering: .relaxed) { return stop.raise() }
            Console.exit(idle)
        }
    }
}
