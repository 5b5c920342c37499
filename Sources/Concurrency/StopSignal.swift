internal import Synchronization

/// A request to stop at the next place where stopping is safe.
package final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// Creates a signal that is not raised.
    package init() {}

    /// Asks to stop.
    package func raise() { requested.store(true, ordering: .relaxed) }

    /// Whether stopping was asked for.
    package var isRaised: Bool { requested.load(ordering: .relaxed) }
}

/// The error of a long wait that ended because a stop was requested.
package struct StopAsked: Error {
    /// Creates the error.
    package init() {}
}
