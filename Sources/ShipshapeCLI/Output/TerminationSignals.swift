internal import Foundation

/// Turns SIGINT and SIGTERM into a request to stop; one that follows after a second ends the process as usual.
final class TerminationSignals {
    private var sources: [any DispatchSourceSignal] = []
    /// The signals that nobody listened to before.
    private var own: [Int32] = []

    /// Listens, from the return on; `action` is called on a queue of the system's.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM], _ action: @escaping @Sendable () -> Void) {
        let listening = DispatchSemaphore(value: 0)
        for number in numbers {
            if let handler = signal(number, SIG_IGN) {
                // Somebody listens already, by a handler of the library's own that it installs once.
                _ = signal(number, handler)
            } else {
                own.append(number)
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                action()
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
    }

    /// Stops listening; a signal that nobody else listens to ends the process again.
    func cancel() {
        for source in sources { source.cancel() }
        for number in own { _ = signal(number, SIG_DFL) }
        (sources, own) = ([], [])
    }
}
