internal import Synchronization

/// A request to stop at the next moment at which it is safe to stop.
package final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// Creates a stop signal that is not raised.
    package init() {}

    /// Requests a stop.
    package func raise() { requested.store(true, ordering: .relaxed) }

    /// Whether a stop was requested.
    package var isRaised: Bool { requested.load(ordering: .relaxed) }
}

/// The error that ends a long wait because a stop was requested.
package struct StopAsked: Error, CustomStringConvertible {
    /// Creates the error.
    package init() {}

    package var description: String { "stopped by a signal" }
}
