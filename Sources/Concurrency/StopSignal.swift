internal import Synchronization

/// A request to stop at the next moment when stopping is safe.
package final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// Creates a signal that is not raised.
    package init() {}

    /// Requests a stop.
    package func raise() { requested.store(true, ordering: .relaxed) }

    /// Whether a stop was requested.
    package var isRaised: Bool { requested.load(ordering: .relaxed) }
}

/// The error of a long wait that ended because a stop was requested.
package struct StopAsked: Error {
    /// Creates the error.
    package init() {}
}
