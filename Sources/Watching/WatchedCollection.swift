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
    /// The number of entries that the watch's own ledger should have for this collection; the watch counts each entry
    /// that it adds or removes.
    ///
    /// `nil` until the watch has read the whole collection, or has resumed from its last position.
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
    private let waiting = Mutex<[FailingID]>([])
    private let isStopped: @Sendable () -> Bool

    /// The most documents in the queue; while it is full, the scan waits.
    private static let maximum = 20_000

    init(isStopped: @Sendable @escaping () -> Bool) { self.isStopped = isStopped }

    func add(_ found: FailingID) {
        while !isStopped(), waiting.withLock({ $0.count >= Self.maximum }) {
            PosixThread.sleep(.milliseconds(20))
        }
        waiting.withLock { $0.append(found) }
    }

    func take() -> [FailingID] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
