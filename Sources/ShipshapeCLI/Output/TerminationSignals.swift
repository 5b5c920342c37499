internal import Concurrency
internal import Foundation
internal import Glibc
internal import Synchronization

/// Turns the signals that ask a process to end into a request to stop; one that follows after a second ends it as usual.
///
/// They are listened to from the start of the process: until a command says what they do, they end it with the exit code of
/// a stop, as nothing is at stake.
final class TerminationSignals: Sendable {
    /// A request to stop: of the keyboard, of a service manager, of a terminal that is closed.
    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private struct Listener {
        let id: UInt64
        let action: @Sendable () -> Void
    }

    private struct State {
        /// The last one is asked.
        var listeners: [Listener] = []
        var next: UInt64 = 0
    }

    private static let state = Mutex(State())
    /// Made once, kept for as long as the process lives, and used by nobody.
    private nonisolated(unsafe) static let sources = install()

    private let id: UInt64

    /// Listens, from the return on, in the place of who listened before; `action` is called on a queue of the system's.
    init(_ action: @escaping @Sendable () -> Void) {
        id = Self.state.withLock { state in
            state.next += 1
            state.listeners.append(Listener(id: state.next, action: action))
            return state.next
        }
        Self.listen()
    }

    /// Stops listening.
    func cancel() { Self.state.withLock { $0.listeners.removeAll { [id] in $0.id == id } } }

    /// Listens for as long as the process lives.
    static func listen() { _ = unsafe sources }

    private static func install() -> [any DispatchSourceSignal] {
        let listening = DispatchSemaphore(value: 0)
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            let before = signal(number, SIG_IGN)
            // `nohup` has the end of the terminal ignored.
            if number == SIGHUP, unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                continue
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                heard()
                // The first request stops at the next safe place; whoever cannot wait asks again. What comes at once is
                // the same request: `timeout` signals the process and its group.
                DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + 1) {
                    _ = signal(number, SIG_DFL)
                }
            }
            source.setRegistrationHandler { listening.signal() }
            source.activate()
            sources.append(source)
        }
        // A signal that comes before a source is registered is heard by nobody.
        for _ in sources { _ = listening.wait(timeout: .now() + 1) }
        return sources
    }

    private static func heard() {
        guard let listener = state.withLock({ $0.listeners.last }) else { Console.exit("stopped by a signal") }
        listener.action()
    }
}

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
