internal import Foundation

/// Turns SIGINT and SIGTERM into a request to stop; one that follows after a second ends the process as usual.
final class TerminationSignals {
    private var sources: [any DispatchSourceSignal] = []

    /// Starts to listen; `action` is called on a queue of the system's.
    init(_ action: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                action()
                // The first request stops at the next safe place; whoever cannot wait asks again. What comes at once is
                // the same request: `timeout` signals the process and its group.
                DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + 1) {
                    _ = signal(number, SIG_DFL)
                }
            }
            source.activate()
            sources.append(source)
        }
    }

    /// Stops listening.
    func cancel() {
        for source in sources { source.cancel() }
        sources = []
    }
}
