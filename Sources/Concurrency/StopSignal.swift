internal import Synchronization

/// A request to stop at the next moment at which it is safe to stop.
package final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    package init() {}

    package func raise() { requested.store(true, ordering: .relaxed) }

    package var isRaised: Bool { requested.load(ordering: .relaxed) }
}

/// The error that ends a long wait because a stop was requested.
package struct StopAsked: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "stopped by a signal" }
}
