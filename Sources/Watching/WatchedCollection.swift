import BSON
import Checking
import Concurrency
import Following
import Synchronization

/// A collection that a watch follows, and how far the watch has judged its changes.
struct WatchedCollection {
    let schema: CompiledSchema
    var feed: ChangeFeed?
    /// The position in the change stream from which a later run resumes; `nil` until the watch follows the collection.
    var place: FeedPlace?
    /// The time up to which the watch has judged all changes.
    var time = ClusterTime(rawValue: 0)
    /// The number of the collection's entries that the watch left in the ledger.
    ///
    /// `nil` until the collection is read or resumed.
    var entries: Int?

    init(schema: CompiledSchema) { self.schema = schema }

    var namespace: Namespace { schema.namespace }
}

/// A document that does not sync or, with ``WatchOptions/isStrict``, might not sync.
struct FailingID: Sendable {
    let id: BSONValue
    /// The document's worst violation; `nil` if no violation is known.
    let violation: Violation?

    init(id: BSONValue, _ violations: [Violation]) {
        self.id = id
        violation = violations.max { $0.level < $1.level }
    }
}

/// A queue of failing documents, from the threads of a scan to the thread that records them in the ledger.
final class FailingQueue: Sendable {
    private let state = Mutex<(waiting: [FailingID], count: Int)>(([], 0))
    private let isStopped: @Sendable () -> Bool

    /// The most documents in the queue; while it is full, the scan waits.
    private static let maximum = 20_000

    init(isStopped: @Sendable @escaping () -> Bool) { self.isStopped = isStopped }

    /// The number of failing documents that were added to the queue in all; a document counts each time it is found.
    var count: Int { state.withLock { $0.count } }

    func add(_ found: FailingID) {
        while !isStopped(), state.withLock({ $0.waiting.count >= Self.maximum }) {
            PosixThread.sleep(.milliseconds(20))
        }
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
