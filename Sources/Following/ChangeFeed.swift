package import BSON
package import Concurrency
package import Mongo
import Synchronization

/// Follows the changes of one collection on its own thread, and hands out the `_id`s of changed documents in batches.
///
/// The feed reports which documents changed, but not how. The caller reads the documents afterwards, so the result is
/// the same if it processes a batch twice.
package final class ChangeFeed: Sendable {
    /// The documents that changed since the previous batch.
    package struct Batch: Sendable {
        /// The `_id`s of the documents, each once, in the order of their first change.
        package var ids: [BSONValue] = []
        /// The time of each document's last change, not counting ignored changes, in the order of ``ids``.
        package var times: [ChangeTime] = []
        /// The time of each document's first change, in the order of ``ids``.
        package var firstTimes: [ChangeTime] = []
        /// The number of changes in the batch, including those by ignored sessions.
        package var changes = 0
        /// The changes by transactions of ignored sessions, in their order; they do not add documents to ``ids``.
        package var ignored: [IgnoredChange] = []
        /// The position in the change stream after the batch; a later feed can resume from it.
        package var place: FeedPlace
        /// The time up to which the feed has reported all changes.
        package var time: ClusterTime
        /// The time of the last change in the batch; 0 if it has no changes.
        ///
        /// The caller must read the documents as of this time or a later one, so that the documents contain all changes
        /// of the batch.
        package var latest: ClusterTime
        fileprivate var seen: [IDKey: Int] = [:]
    }

    /// A change by a transaction of an ignored session.
    package struct IgnoredChange: Sendable {
        /// The `_id` of the document that the transaction changed.
        package var id: BSONValue
        /// The time of the document's previous change by another client in the same batch; `nil` if the batch has no
        /// such change.
        package var earlier: ChangeTime?
    }

    /// The reason why a feed has ended.
    package enum End: Error {
        /// The change stream cannot resume from the feed's position, usually because the oplog no longer holds the
        /// changes after it; the text is the server's message.
        case lost(String)
        case dropped(ClusterTime)
        /// The collection was renamed, or another collection took its name.
        case renamed
        /// The feed cannot get the changes from the deployment, because of the given error.
        case failed(MongoError)
    }

    private struct State {
        var pending: Batch?
        var end: End?
        var isClosed = false
    }

    package let namespace: Namespace
    private let pool: ClientPool
    private let changesArrived: Semaphore
    private let room = Semaphore()
    private let retryLimit: Duration
    private let interval: Duration
    private let sessions: Set<BSONValue>
    private let state = Mutex(State())

    /// The number of changes in a batch after which the feed waits until the caller takes the batch.
    private static let maximum = 1_000

    /// Starts to follow the collection.
    /// - Parameters:
    ///   - place: the position in the change stream at which to start.
    ///   - changesArrived: a semaphore that the feed signals when there is a batch to take, or when the feed has ended.
    ///   - retryLimit: how long to retry after failures of the deployment.
    ///   - interval: how often the feed reports its time while nothing changes.
    ///   - sessions: the `lsid.id` of each session whose transactions are ignored. The server adds the session to each
    ///     change by a transaction, so that another client's change cannot be mistaken for an ignored one.
    package init(
        _ namespace: Namespace, from place: FeedPlace, on pool: ClientPool, changesArrived: Semaphore,
        retryLimit: Duration,
        interval: Duration = .milliseconds(200), ignoring sessions: Set<BSONValue> = []
    ) {
        (self.namespace, self.pool, self.changesArrived, self.retryLimit) = (
            namespace, pool, changesArrived, retryLimit
        )
        (self.interval, self.sessions) = (interval, sessions)
        PosixThread.start(name: "changes") { [self] in run(from: place) }
    }

    /// Ends the feed; a batch that was not taken yet can still be taken.
    package func close() {
        state.withLock { $0.isClosed = true }
        room.signal()
    }

    /// Returns the changes since the last call; `nil` if there is nothing to report.
    ///
    /// A batch without changes reports only that the feed has reached the batch's ``Batch/time``.
    /// - Throws: ``End`` when the feed has ended and its last batch was taken.
    package func take() throws(End) -> Batch? {
        let (batch, end) = state.withLock { state in
            defer { state.pending = nil }
            return (state.pending, state.end)
        }
        if batch != nil { room.signal() }
        if batch == nil, let end { throw end }
        return batch
    }
}

/// The time at which a document changed, by two clocks.
package struct ChangeTime: Hashable, Sendable {
    /// The time of the change on the deployment's logical clock.
    package var cluster: ClusterTime
    /// The time on the primary's own clock, in milliseconds since 1970; `nil` if the server does not report it, as
    /// before version 6.0.
    package var wall: Int64?

    package init(cluster: ClusterTime, wall: Int64? = nil) { (self.cluster, self.wall) = (cluster, wall) }

    /// The time in milliseconds since 1970, as exactly as the server reports it.
    package var milliseconds: Int64 { wall ?? Int64(cluster.seconds) * 1_000 }
}

// MARK: The thread

extension ChangeFeed {
    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run(from start: FeedPlace) {
        var place = start
        var retries = Retries(limit: retryLimit)
        while !isClosed {
            do {
                try follow(&place) { retries.succeeded() }
                return
            } catch let error as End {
                return end(error)
            } catch let error as MongoError where error.isHistoryLost {
                return end(.lost(error.message))
            } catch let error as MongoError {
                guard error.isCursorLost, let pause = retries.pause(afterFailureAt: .now) else {
                    return end(.failed(error))
                }
                PosixThread.sleep(pause, unless: { self.isClosed })
            } catch {
                let message = "an event of the change stream is damaged: \(error)"
                return end(.failed(MongoError(.protocolViolation, .invalidReply, message: message)))
            }
        }
    }

    private func end(_ reason: End) {
        state.withLock { $0.end = reason }
        changesArrived.signal()
    }

    private func follow(_ place: inout FeedPlace, progressed: () -> Void) throws {
        let client = try pool.client()
        var stream = client.collection(namespace).watch(Self.pipeline, options: options(from: place))
        while !isClosed {
            let change = try read(&stream)
            guard let token = stream.resumeToken else { continue }
            place = .after(token)
            progressed()
            let after = change.map { ClusterTime(rawValue: $0.time.cluster.rawValue - 1) } ?? token.time
            note(change, token, after)
            while !isClosed, state.withLock({ ($0.pending?.changes ?? 0) >= Self.maximum }) {
                _ = room.wait(milliseconds: 200)
            }
        }
    }

    /// A change of a document, as an event of the change stream reports it.
    private struct Change {
        var id: BSONValue
        var time: ChangeTime
        /// Whether a transaction of an ignored session made the change.
        var isIgnored: Bool
    }

    /// Returns the next change; `nil` if none arrived within ``interval``.
    private func read(_ stream: inout ChangeStream) throws -> Change? {
        guard let event = try stream.next() else { return nil }
        guard let time = try event.find("clusterTime"), case .timestamp(let stamp) = try event.value(time) else {
            throw BSONError(.truncated, at: 0)
        }
        // An event without a document key reports a change of the collection itself, such as a drop or a rename, which
        // ends the feed.
        guard let key = try event.find("documentKey"), key.type == .object else {
            let kind = try event.find("operationType").map { element throws(BSONError) in try event.value(element) }
            throw kind == "drop" || kind == "dropDatabase" ? End.dropped(ClusterTime(rawValue: stamp)) : End.renamed
        }
        let document = try event.document(key)
        guard let element = try document.find("_id") else { throw BSONError(.truncated, at: 0) }
        var changed = ChangeTime(cluster: ClusterTime(rawValue: stamp))
        if let wall = try event.find("wallTime"), case .date(let milliseconds) = try event.value(wall) {
            changed.wall = milliseconds
        }
        var isIgnored = false
        if !sessions.isEmpty, let session = try event.find("lsid"), session.type == .object,
            let id = try event.document(session).find("id")
        {
            isIgnored = sessions.contains(try event.document(session).value(id))
        }
        return Change(id: try document.value(element), time: changed, isIgnored: isIgnored)
    }

    private func note(_ change: Change?, _ token: ResumeToken, _ after: ClusterTime?) {
        let isNew = state.withLock { state in
            let isNew = state.pending == nil
            let time = after ?? state.pending?.time ?? ClusterTime(rawValue: 0)
            var batch = state.pending ?? Batch(place: .after(token), time: time, latest: ClusterTime(rawValue: 0))
            (batch.place, batch.time) = (.after(token), time)
            if let change {
                batch.changes += 1
                batch.latest = change.time.cluster
                if change.isIgnored {
                    let earlier = batch.seen[IDKey(change.id)].map { batch.times[$0] }
                    batch.ignored.append(IgnoredChange(id: change.id, earlier: earlier))
                } else if let index = batch.seen[IDKey(change.id)] {
                    batch.times[index] = change.time
                } else {
                    batch.seen[IDKey(change.id)] = batch.ids.count
                    batch.ids.append(change.id)
                    batch.times.append(change.time)
                    batch.firstTimes.append(change.time)
                }
            }
            state.pending = batch
            return isNew
        }
        if isNew { changesArrived.signal() }
    }

    /// The pipeline of the change stream, which selects only the fields that the feed needs, and not the changed
    /// documents.
    private static var pipeline: [BSONDocument] {
        [["$project": ["operationType": 1, "documentKey": 1, "clusterTime": 1, "wallTime": 1, "lsid.id": 1]]]
    }

    private func options(from place: FeedPlace) -> BSONDocument {
        let others: [(String, BSONValue)] = [
            ("maxAwaitTimeMS", .integer(Int(interval.milliseconds))), ("batchSize", 1_000),
            ("readConcern", ["level": "majority"]),
            ("comment", "shipshape changes"),
        ]
        return BSONDocument([place.option] + others)
    }
}

extension MongoError {
    /// Whether the error means that a change stream cannot resume from its position.
    fileprivate var isHistoryLost: Bool {
        [.changeStreamHistoryLost, .changeStreamFatal, .invalidResumeToken].contains(code)
    }
}

/// A position in the change stream of a collection.
package enum FeedPlace: Hashable, Sendable {
    /// The position of the given resume token; a feed that starts there reports only the changes after it.
    case after(ResumeToken)
    /// The position at the given time on the deployment's logical clock.
    case at(ClusterTime)
}

extension FeedPlace {
    /// Reads a position from the document that ``document`` returned; `nil` for any other document.
    package init?(_ document: BSONDocument) {
        if let token = document["token"]?.document {
            self = .after(ResumeToken(token))
        } else if case .timestamp(let time)? = document["time"] {
            self = .at(ClusterTime(rawValue: time))
        } else {
            return nil
        }
    }

    /// The position as a document, which can be stored between runs.
    package var document: BSONDocument {
        switch self {
        case .after(let token): ["token": .object(token.document)]
        case .at(let time): ["time": .timestamp(time.rawValue)]
        }
    }

    /// The option that makes a change stream begin at the position.
    var option: (String, BSONValue) {
        switch self {
        case .after(let token): ("resumeAfter", .object(token.document))
        case .at(let time): ("startAtOperationTime", .timestamp(time.rawValue))
        }
    }
}
