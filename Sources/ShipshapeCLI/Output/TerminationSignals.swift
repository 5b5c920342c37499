internal import Foundation

/// Turns SIGINT and SIGTERM into a request to stop; a second SIGINT ends the process as usual.
final class TerminationSignals {
    private var sources: [any DispatchSourceSignal] = []

    /// Starts to listen; `action` is called on a queue of the system's.
    init(_ action: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                action()
                // The first request stops at the next safe place; whoever cannot wait asks again.
                _ = signal(number, SIG_DFL)
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
