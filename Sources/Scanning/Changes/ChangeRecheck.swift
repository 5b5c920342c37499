import BSON
import Checking
import Concurrency
import Mongo

/// Judges a second time the documents that changed during a scan, after the scan.
///
/// If possible, all of these documents are read as of one cluster time.
struct ChangeRecheck {
    let schema: CompiledSchema
    let namespace: Namespace
    let pool: ClientPool
    let options: ScanOptions
    let tracker: ChangeTracker

    /// The results of judging the changed documents a second time.
    struct Outcome {
        var time: ClusterTime
        var changed: ChangedIDs
        var tally: Tally
        /// The keys of the changed documents in unique indexes; `nil` if there are none to compare.
        var keys: UniqueLog?
        /// The reason why not all documents were read as of exactly ``time``; `nil` if all were.
        var blur: String?
    }

    private static var retryLimit: Duration { .seconds(60) }

    /// Judges the documents that changed during the scan; blocks the thread.
    /// - Parameter readTime: The latest cluster time at which the scan read.
    /// - Throws: ``ChangesUnknown``, ``ScanStopped``, ``BSONError`` for a damaged document, or ``MongoError``, for
    ///   example if the deployment stays unreachable.
    func run(after readTime: UInt64) throws -> Outcome {
        var retries = Retries(limit: Self.retryLimit)
        while true {
            do {
                return try recheckOnce(after: readTime)
            } catch let error as MongoError {
                guard error.isCursorLost else { throw error }
                if options.isStopped() { throw ScanStopped() }
                try retries.wait(after: error, isProgress: false) { false }
            }
        }
    }

    private func recheckOnce(after readTime: UInt64) throws -> Outcome {
        let client = try pool.client()
        let now = max(try client.operationTime(), readTime)
        // The change stream may lag behind for longer than the server keeps a snapshot, so the snapshot is taken only
        // after the stream has caught up.
        try tracker.wait(until: ClusterTime(rawValue: now))
        do {
            if let outcome = try recheckAtSnapshot(client, after: now) { return outcome }
        } catch let error as MongoError {
            guard !error.isCursorLost else { throw error }
        }
        return try recheckByMajority(client, after: now)
    }

    /// Judges the changed documents as they are at one cluster time.
    /// - Returns: `nil` if the server does not read from snapshots, or if none of its snapshots is at least as new as
    ///   the data that the scan has read.
    private func recheckAtSnapshot(_ client: borrowing Client, after earliest: UInt64) throws -> Outcome? {
        for _ in 0..<20 {
            let session = try client.startSession(isSnapshot: true)
            // The first read of the session fixes the cluster time of all its reads.
            let reply = try client.runReadCommand(
                [
                    "find": .string(namespace.collection), "filter": ["_id": .null], "limit": 1,
                    "projection": ["_id": 1],
                ],
                on: namespace.database, options: try session.options(adding: Self.snapshot))
            guard case .timestamp(let stamp)? = reply["cursor"]?.document?["atClusterTime"] else { return nil }
            guard stamp >= earliest else {
                PosixThread.sleep(.milliseconds(50))
                continue
            }
            let time = ClusterTime(rawValue: stamp)
            try tracker.wait(until: time)
            let changed = tracker.changed
            let (tally, keys) = try judge(changed, client, try session.options(adding: Self.snapshot))
            return Outcome(time: time, changed: changed, tally: tally, keys: keys, blur: nil)
        }
        return nil
    }

    /// Judges the changed documents as they are shortly after the scan.
    ///
    /// The scan uses this method if the documents cannot be read from a snapshot.
    private func recheckByMajority(_ client: borrowing Client, after earliest: UInt64) throws -> Outcome {
        let session = try client.startSession()
        session.advance(to: earliest)
        let changed = tracker.changed
        let options: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape check"]
        let (tally, keys) = try judge(changed, client, try session.options(adding: options))
        return Outcome(
            time: ClusterTime(rawValue: earliest), changed: changed, tally: tally, keys: keys,
            blur: "the server cannot read \(namespace) as of a given time, so documents that changed during the scan "
                + "were judged as of shortly after it")
    }

    private func judge(
        _ changed: ChangedIDs, _ client: borrowing Client, _ commonOptions: BSONDocument
    ) throws -> (Tally, UniqueLog?) {
        if let onRetraction = options.listeners.onRetraction {
            for id in changed.all { onRetraction(schema.namespace, id) }
        }
        var tally = options.makeTally(schema)
        let keys = UniqueLog(schema, options: options)
        var judged: Set<DocumentKey> = []
        let reader = IDReader(
            collection: client.collection(namespace), filter: options.selection, options: commonOptions)
        try reader.read(Array(changed.all)) { document in
            // The server considers some `_id`s with different bytes equal, such as 1 and 1.0. A query for either of two
            // such `_id`s finds the same document, which must be judged only once.
            guard let key = try DocumentKey(of: document), changed[key] != nil, judged.insert(key).inserted else {
                return
            }
            try tally.add(document, ledger: options.judging.ledger)
            try keys?.add(document, tally.lastCounted)
            if options.isStopped() { throw ScanStopped() }
        }
        return (tally, keys)
    }

    /// The options of a read from a snapshot.
    ///
    /// The options state the read concern, because a snapshot might not allow the read concern of the connection
    /// string.
    private static var snapshot: BSONDocument { ["readConcern": ["level": "snapshot"], "comment": "shipshape check"] }
}
