package import BSON
import Checking
import Concurrency
package import Mongo
import Synchronization

/// Follows a collection's change stream while the collection is read, on its own thread, and records which documents
/// change.
package final class ChangeTracker: Sendable {
    private struct State {
        var changed = ChangedIDs()
        /// The cluster time up to which the change stream was read.
        var time = ClusterTime(rawValue: 0)
        /// The cluster time for which another thread waited most recently; `nil` if no thread has waited yet.
        var goal: ClusterTime?
        var isClosed = false
        var isOpen = false
        /// The reason why the change stream failed; `nil` if it has not failed.
        var failure: String?
    }

    /// The cluster time after which changes are recorded; the collection is read as of this time or later.
    package let start: ClusterTime
    /// The command that reads the collection, as it appears in the server's log.
    private let command: String
    private let namespace: Namespace
    private let pool: ClientPool
    /// The milliseconds that the server waits for changes before it answers that there are none.
    ///
    /// They are few, because the scan can end only after the server has answered the change stream's last request. For
    /// a small collection they are fewer still, because the scan itself takes only milliseconds.
    private let awaitTime: Int32
    private let isStopped: @Sendable () -> Bool
    private let state = Mutex(State())
    private let changesArrived = Semaphore()

    /// Prepares to follow a collection's changes after the cluster time `start`; ``open()`` starts to follow them.
    /// - Parameter command: the command that reads the collection, for the server's log.
    package init(
        _ namespace: Namespace, from start: ClusterTime, for command: String, on pool: ClientPool,
        isSmall: Bool = false, isStopped: @escaping @Sendable () -> Bool
    ) {
        (self.namespace, self.command) = (namespace, command)
        self.start = start
        self.pool = pool
        awaitTime = isSmall ? 1 : 20
        self.isStopped = isStopped
    }

    /// Starts to follow the changes; blocks the thread until the server has opened the change stream.
    /// - Throws: ``ChangesUnknown`` with the reason if the server does not return the changes.
    package func open() throws(ChangesUnknown) {
        Task { [self] in await onOwnedThread(name: "changes") { self.run() } }
        try wait { $0.isOpen }
    }

    /// Blocks the thread until the change stream was read up to `time`.
    /// - Throws: ``ChangesUnknown`` if the change stream has failed.
    package func wait(until time: ClusterTime) throws(ChangesUnknown) {
        state.withLock { $0.goal = time }
        try wait { $0.time >= time }
    }

    /// The `_id`s of the documents that have changed since ``start``, as far as the change stream has been read.
    package var changed: ChangedIDs { state.withLock { $0.changed } }

    /// Makes the tracker's thread end the change stream; ``wait(until:)`` then throws ``ChangesUnknown``.
    package func close() {
        state.withLock { $0.isClosed = true }
        fail("the change stream was closed")
    }

    private func wait(_ isReached: (State) -> Bool) throws(ChangesUnknown) {
        while true {
            let (reached, failure) = state.withLock { (isReached($0), $0.failure) }
            if let failure { throw ChangesUnknown(reason: failure) }
            if reached { return }
            changesArrived.wait()
        }
    }
}

/// The error that the changes during a read cannot be taken into account.
package struct ChangesUnknown: Error {
    /// A clause that says why the changes cannot be taken into account.
    package let reason: String
}

// MARK: the thread

extension ChangeTracker {
    /// The longest time for retries after the change stream was lost.
    ///
    /// ``wait(until:)`` also throws if the change stream makes no progress for this time.
    private static var retryLimit: Duration { .seconds(60) }

    private func run() {
        var token: ResumeToken?
        var retries = Retries(limit: Self.retryLimit)
        while true {
            do {
                try follow(&token) { retries.succeeded() }
                return
            } catch let error as MongoError {
                guard error.isCursorLost, !isStopped(), let pause = retries.pause(afterFailureAt: .now) else {
                    return fail(reason(of: error))
                }
                PosixThread.sleep(pause, unless: isStopped)
            } catch let error as ChangesUnknown {
                return fail(error.reason)
            } catch {
                return fail("an event of the change stream is damaged: \(error)")
            }
        }
    }

    private func follow(_ token: inout ResumeToken?, progressed: () -> Void) throws {
        let client = try pool.client()
        var stream = client.collection(namespace).watch(Self.pipeline, options: options(after: token))
        // The first reply already has a resume token, so ``open()`` need not wait for the first change.
        if let opened = stream.resumeToken?.time { _ = advance(to: opened) }
        var lastProgressAt = ContinuousClock.now
        while !state.withLock({ $0.isClosed }) {
            if isStopped() { throw ChangesUnknown(reason: "the scan was stopped") }
            let time = try read(&stream)
            token = stream.resumeToken ?? token
            progressed()
            guard let time = time ?? token?.time else {
                throw ChangesUnknown(reason: "the server's resume tokens have an unknown form")
            }
            let (moved, isAwaited) = advance(to: time)
            if moved || !isAwaited { lastProgressAt = .now }
            guard lastProgressAt.duration(to: .now) < Self.retryLimit else {
                throw ChangesUnknown(reason: "the change stream does not advance")
            }
        }
    }

    /// Reads one event of the change stream, and records the document that it names.
    /// - Returns: The cluster time up to which all events were read; `nil` if there was no event.
    private func read(_ stream: inout ChangeStream) throws -> ClusterTime? {
        guard let event = try stream.next() else { return nil }
        guard let time = try event.find("clusterTime"), case .timestamp(let stamp) = try event.value(time) else {
            throw ChangesUnknown(reason: "an event of the change stream has no cluster time")
        }
        guard let key = try event.find("documentKey"), key.type == .object else {
            throw ChangesUnknown(reason: "the collection was dropped, renamed or replaced")
        }
        // The collection is read as of `start` or later, so only changes after `start` are recorded.
        if stamp > start.rawValue {
            let document = try event.document(key)
            try state.withLock { state in try state.changed.insert(document) }
        }
        // All events of a transaction have the same time, so more events with the time of this event may follow. All
        // events are known only up to the time before this event.
        return ClusterTime(rawValue: stamp - 1)
    }

    private func advance(to time: ClusterTime) -> (moved: Bool, isAwaited: Bool) {
        let (moved, isAwaited) = state.withLock { state in
            let moved = time > state.time || !state.isOpen
            state.time = max(state.time, time)
            state.isOpen = true
            return (moved, state.goal.map { state.time < $0 } ?? false)
        }
        if moved { changesArrived.signal() }
        return (moved, isAwaited)
    }

    private func fail(_ reason: String) {
        state.withLock { $0.failure = $0.failure ?? reason }
        changesArrived.signal()
    }

    /// The stage that keeps only the fields of an event that the tracker reads, so that the server does not send the
    /// documents themselves.
    private static var pipeline: [BSONDocument] {
        [["$project": ["operationType": 1, "documentKey": 1, "clusterTime": 1]]]
    }

    private func options(after token: ResumeToken?) -> BSONDocument {
        let place: (String, BSONValue) =
            token.map { ("resumeAfter", .object($0.document)) } ?? ("startAtOperationTime", .timestamp(start.rawValue))
        let others: [(String, BSONValue)] = [
            ("maxAwaitTimeMS", .int(awaitTime)), ("batchSize", 1_000), ("readConcern", ["level": "majority"]),
            ("comment", .string("shipshape \(command)")),
        ]
        return BSONDocument([place] + others)
    }

    private func reason(of error: MongoError) -> String {
        switch error.code {
        case _ where error.isAuthorization: "the user lacks the privilege changeStream on \(namespace)"
        case .changeStreamsUnsupported: "the server is not a member of a replica set, so it has no change streams"
        case .changeStreamHistoryLost: "the oplog is too short: it lost changes before they were read"
        default: "the change stream failed: \(error)"
        }
    }
}

/// The `_id`s of the documents that changed while a collection was read, each only once, up to a limit.
package struct ChangedIDs: Sendable {
    /// The largest number of `_id`s that are kept, so that they take at most some tens of megabytes of memory.
    package static var maximumCount: Int { 200_000 }
    private static var maximumBytes: Int { 16 << 20 }

    private var ids: [DocumentKey: BSONValue] = [:]
    /// The documents that changed more than once.
    private var repeated: Set<DocumentKey> = []
    private var bytes = 0
    /// Whether more documents changed than the limits on the number and the size of the `_id`s allow.
    package private(set) var isIncomplete = false

    var count: Int { ids.count }

    /// All `_id`s that are kept, in no particular order.
    var all: some Collection<BSONValue> { ids.values }

    package subscript(key: DocumentKey) -> BSONValue? { ids[key] }

    /// The keys and the `_id`s of all documents that are kept, in no particular order.
    package var pairs: some Collection<(key: DocumentKey, value: BSONValue)> { ids }

    /// Whether the document changed exactly once.
    package func hasChangedOnce(_ key: DocumentKey) -> Bool { ids[key] != nil && !repeated.contains(key) }

    /// Records the `_id` of a document; the argument is the document, or the document key of a change event.
    mutating func insert(_ document: borrowing BSONView) throws(BSONError) {
        guard let element = try document.find("_id"), let key = try DocumentKey(of: document) else { return }
        guard ids[key] == nil else {
            repeated.insert(key)
            return
        }
        guard ids.count < Self.maximumCount, bytes + element.valueLength <= Self.maximumBytes else {
            isIncomplete = true
            return
        }
        bytes += element.valueLength
        ids[key] = try document.value(element)
    }
}
