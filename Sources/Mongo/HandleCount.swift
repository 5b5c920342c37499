internal import Synchronization

/// Counts the handles of the C driver that are alive, so that a test can see them all freed.
final class HandleCount: Sendable {
    private let count = Atomic<Int>(0)

    /// The handles that are alive now.
    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.add(1, ordering: .sequentiallyConsistent) }

    func remove() { count.subtract(1, ordering: .sequentiallyConsistent) }
}
