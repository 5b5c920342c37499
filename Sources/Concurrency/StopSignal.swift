internal import Synchronization

/// A request to stop at the next place where stopping is safe.
package final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// Makes a signal that is not raised.
    package init() {}

    /// Asks to stop.
    package func raise() { requested.store(true, ordering: .relaxed) }

    /// Whether stopping was asked for.
    package var isRaised: Bool { requested.load(ordering: .relaxed) }
}

/// A signal came while something was waited for that takes long.
package struct StopAsked: Error {
    /// Makes one.
    package init() {}
}
