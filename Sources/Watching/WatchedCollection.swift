import BSON
import Checking
import Concurrency
import Following
import Synchronization

/// A collection that is watched, and how far.
struct WatchedCollection {
    let schema: CompiledSchema
    var feed: ChangeFeed?
    /// Where a later run goes on; `nil` while the collection is not read.
    var place: FeedPlace?
    /// The time up to which all is judged.
    var time = ClusterTime(rawValue: 0)
    /// How many entries the watch has left in the ledger; `nil` while the collection is not read.
    var entries: Int?

    init(schema: CompiledSchema) { self.schema = schema }

    var namespace: Namespace { schema.namespace }
}

/// A document that does not sync.
struct FailingID: Sendable {
    let id: BSONValue
    /// The worst that is wrong with it.
    let violation: Violation?

    init(id: BSONValue, _ violations: [Violation]) {
        self.id = id
        violation = violations.max { $0.level < $1.level }
    }
}

/// What the threads of a scan find, for the one that records it.
final class FailingQueue: Sendable {
    private let state = Mutex<(waiting: [FailingID], count: Int)>(([], 0))
    private let isStopped: @Sendable () -> Bool

    /// What may wait before the scan does.
    private static let most = 20_000

    init(isStopped: @Sendable @escaping () -> Bool) { self.isStopped = isStopped }

    /// How many were found, each as often as it was met.
    var count: Int { state.withLock { $0.count } }

    func add(_ found: FailingID) {
        while !isStopped(), state.withLock({ $0.waiting.count >= Self.most }) { PosixThread.sleep(.milliseconds(20)) }
        state.withLock { state in
            state.waiting.append(found)
            state.count += 1
        }
    }

    func take() -> [FailingID] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
