import BSON
import Checking
import Concurrency
import Following
import JobState
package import Mongo
import Running
import Scanning

extension Watch {
    /// Keeps the watch's ledger of documents that do not sync up to date, until a stop is requested.
    ///
    /// With ``WatchOptions/endsWhenCaughtUp``, ends earlier, once all changes from before the start of the run have
    /// been judged.
    ///
    /// The call blocks its thread.
    /// - Throws: ``RunError`` when another runner keeps the ledger or the server is too old; ``WatchError`` when a
    ///   collection has no change stream; ``MongoError``; ``StopAsked`` when a stop is requested before the ledger is
    ///   complete.
    package func run(on pool: ClientPool) throws -> WatchOutcome {
        let name = "watch \(options.ledger)"
        let kernel = try Kernel.following(name, options.run, on: pool, stop: stop) { [events] in events(.run($0)) }
        var run = WatchRun(self, kernel: kernel)
        return try run.follow()
    }
}

/// A run of a watch, which holds the watch's lease.
struct WatchRun: ~Copyable, FollowingRun {
    let watch: Watch
    let ledger: WatchLedger
    var kernel: Kernel
    private var collections: [WatchedCollection]
    private let changesArrived = Semaphore()
    private var changes = 0
    private var isUnsaved = false
    private var savedAt = ContinuousClock.now
    private var countedAt: ContinuousClock.Instant?
    private var isUncounted = true
    private var hasWarned = false

    /// The shortest time between two updates of the stored positions in the change streams.
    private static let savePeriod = Duration.seconds(1)
    /// The shortest time between two counts of the entries in the watch's ledger.
    private static let countPeriod = Duration.seconds(5)

    init(_ watch: Watch, kernel: consuming Kernel) {
        self.watch = watch
        ledger = WatchLedger(namespace: watch.options.ledger, appID: watch.appID)
        self.kernel = kernel
        collections = watch.schemas.map { WatchedCollection(schema: $0) }
    }

    mutating func run() throws -> WatchOutcome {
        try checkServer()
        try ledger.create(under: kernel)
        try start()
        let goal = ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() })
        var isCaughtUp = false
        while !kernel.stop.isRaised {
            _ = changesArrived.wait(milliseconds: 200)
            for index in collections.indices { try take(index) }
            if !isCaughtUp, collections.allSatisfy({ $0.time >= goal }) {
                isCaughtUp = true
                watch.events(.caughtUp)
                if watch.options.endsWhenCaughtUp { break }
            }
            if isUnsaved, savedAt.duration(to: .now) >= Self.savePeriod { try save() }
            try kernel.keepLease()
            if isUncounted, countedAt.map({ $0.duration(to: .now) >= Self.countPeriod }) ?? true {
                _ = try count(try repair())
            }
        }
        let held = kernel.stop.isRaised ? try ledger.counts(under: kernel) : try repair()
        close()
        try save()
        return WatchOutcome(counts: try count(held), isCaughtUp: isCaughtUp)
    }

    /// Throws if the server is older than MongoDB 5.0.
    ///
    /// Before 5.0, the filter of a delete cannot use `$$NOW`, so a runner whose lease has ended could still remove
    /// entries.
    private func checkServer() throws {
        guard try kernel.retrying({ try kernel.client.hello().maxWireVersion }) < ServerHello.wireVersionOf50 else {
            return
        }
        throw RunError(
            .schemaMismatch,
            "ledger follow needs MongoDB 5.0 or later: the deletes of this older server cannot use the server's clock")
    }

    func leave() { _ = kernel.leave() }

    func close() { for collection in collections { collection.feed?.close() } }

    /// Resumes each collection at the position in its change stream at which the last run stopped.
    ///
    /// The whole collection is read instead if no run has read it under the current schema and options, or if another
    /// client added or removed entries of the collection in the ledger.
    private mutating func start() throws {
        let record = try kernel.retrying { try kernel.store.ranges.document() }
        let state = WatchState(record, digest: watch.digest)
        try ledger.remove(notOf: watch.schemas.map(\.namespace), under: &kernel)
        let held = try heldEntries()
        for index in collections.indices {
            let namespace = collections[index].namespace
            if let place = state.places[namespace] {
                collections[index].entries = state.entries[namespace] ?? held[namespace] ?? 0
                if let reason = collections[index].lack(of: held) {
                    try read(index, because: reason)
                    continue
                }
                watch.events(.resumed(namespace))
                follow(index, from: place)
            } else {
                let isNew = record?["schema"] == nil
                try read(index, because: isNew ? "no earlier run has read it" : "the schema or an option has changed")
            }
        }
    }

    private mutating func follow(_ index: Int, from place: FeedPlace) {
        collections[index].place = place
        collections[index].time = ClusterTime(rawValue: 0)
        collections[index].feed = ChangeFeed(
            collections[index].namespace, from: place, on: kernel.pool, changesArrived: changesArrived,
            retryLimit: watch.options.run.retryLimit)
    }

    /// Returns how many entries the ledger has for each collection.
    private func heldEntries() throws -> [Namespace: Int] {
        Self.byNamespace(try ledger.counts(under: kernel))
    }

    private static func byNamespace(_ counts: [(namespace: Namespace, count: Int)]) -> [Namespace: Int] {
        Dictionary(counts.map { ($0.namespace, $0.count) }) { $1 }
    }

    /// Reads a collection again if another client has changed how many entries the ledger has for the collection.
    /// - Returns: how many entries the ledger has for each collection afterwards.
    private mutating func repair() throws -> [(namespace: Namespace, count: Int)] {
        let counts = try ledger.counts(under: kernel)
        let held = Self.byNamespace(counts)
        var hasRead = false
        for index in collections.indices {
            guard let reason = collections[index].lack(of: held) else { continue }
            try read(index, because: reason)
            hasRead = true
        }
        return hasRead ? try ledger.counts(under: kernel) : counts
    }

    /// Stores the positions in the change streams from which the next run resumes.
    private mutating func save() throws {
        try kernel.renew(setting: WatchState.changes(collections, digest: watch.digest))
        (isUnsaved, savedAt) = (false, .now)
    }

    /// Reports the counts of the ledger, and a warning if their sum has reached ``WatchOptions/warningCount`` since the
    /// previous report.
    /// - Parameter held: how many entries the ledger has for each collection.
    private mutating func count(_ held: [(namespace: Namespace, count: Int)]) throws -> WatchCounts {
        let now = try kernel.retrying { try kernel.client.operationTime() }
        let lag = collections.map { max(0, Int(now >> 32) - $0.time.seconds) }.max() ?? 0
        let counts = WatchCounts(
            ledger: ledger.namespace, collections: held, limit: watch.options.limit, changes: changes, lag: lag)
        (isUncounted, countedAt) = (false, .now)
        watch.events(.counted(counts))
        let isWorthAWarning = counts.total >= watch.options.warningCount
        if isWorthAWarning, !hasWarned { watch.events(.warning(counts)) }
        hasWarned = isWorthAWarning
        return counts
    }
}

// MARK: Changes

extension WatchRun {
    /// Judges the documents of a collection that have changed since the last call.
    ///
    /// If the change feed has lost changes, or if its collection was dropped or renamed, reads the whole collection. If
    /// the feed has ended with another error, throws that error.
    private mutating func take(_ index: Int) throws {
        guard let feed = collections[index].feed else { return }
        let batch: ChangeFeed.Batch?
        do throws(ChangeFeed.End) {
            batch = try feed.take()
        } catch {
            switch error {
            case .failed(let error): throw error
            case .lost(let reason):
                return try read(index, because: "the oplog no longer holds the changes since the last run (\(reason))")
            case .dropped, .renamed: return try read(index, because: "it was dropped or renamed")
            }
        }
        if let batch { try judge(batch, of: index) }
    }

    private mutating func judge(_ batch: ChangeFeed.Batch, of index: Int) throws {
        let (schema, isStrict) = (collections[index].schema, watch.options.isStrict)
        if !batch.ids.isEmpty {
            let judged = try kernel.retrying { try Self.judge(batch, schema, isStrict: isStrict, on: kernel.client) }
            let failing = Set(judged.map { IDKey($0.id) })
            let entries = judged.map { ledger.entry($0.id, of: schema.namespace, $0.violation, pass: nil) }
            let added = try ledger.record(entries, under: &kernel)
            let others = batch.ids.filter { !failing.contains(IDKey($0)) }
            let removed = try ledger.remove(others, of: schema.namespace, under: &kernel)
            collections[index].entries = collections[index].entries.map { $0 + added - removed }
            changes += batch.changes
            isUncounted = true
        }
        (collections[index].place, collections[index].time) = (batch.place, batch.time)
        isUnsaved = true
    }

    /// Returns the documents of the batch that do not sync in their current state; with `isStrict`, also the documents
    /// that might not sync.
    private static func judge(
        _ batch: ChangeFeed.Batch, _ schema: CompiledSchema, isStrict: Bool, on client: borrowing Client
    ) throws -> [FailingID] {
        let session = try client.startSession()
        session.advance(to: batch.latest.rawValue)
        let reader = IDReader(
            collection: client.collection(schema.namespace),
            options: try session.options(adding: [
                "readConcern": ["level": "majority"], "comment": "shipshape ledger follow",
            ]))
        var failing: [FailingID] = []
        try reader.read(batch.ids) { document in
            guard try schema.check(document) >= (isStrict ? .possible : .certain),
                let element = try document.find("_id")
            else { return }
            let violations = try schema.violations(in: document, includingInfo: false)
            failing.append(FailingID(id: try document.value(element), violations))
        }
        return failing
    }
}

// MARK: Reading a whole collection

extension WatchRun {
    /// Reads a whole collection and judges its documents.
    ///
    /// If the collection does not exist, removes its entries from the ledger.
    ///
    /// During the read, a change feed collects the changes, which are judged afterwards.
    private mutating func read(_ index: Int, because reason: String) throws {
        let namespace = collections[index].namespace
        watch.events(.reading(namespace, reason: reason))
        collections[index].feed?.close()
        let start = ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() })
        guard start.rawValue > 0 else {
            throw WatchError("the server is not a member of a replica set, so it has no change streams")
        }
        follow(index, from: .at(start))
        let info = try kernel.retrying { try kernel.client.readableCollection(namespace) }
        if let info, info.kind != .collection {
            throw WatchError(
                "\(namespace) is a \(info.kind), which has no change stream: leave it out of the schema")
        }
        guard info != nil else {
            try ledger.remove(of: namespace, except: nil, under: &kernel)
            collections[index].entries = 0
            return try save()
        }
        let pass = ObjectID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        // The entries that this watch adds and removes are counted one by one, because a count of the ledger would
        // include another client's changes.
        var own = try heldEntries()[namespace] ?? 0
        let found = FailingQueue(isStopped: { [stop = kernel.stop] in stop.isRaised })
        let scan = CollectionScan(collections[index].schema, on: kernel.pool, options: options(tellingOf: found))
        let reading = BackgroundTask(running: { try await scan.run() })
        let result: ScanResult
        do {
            result = try reading.wait(stop: kernel.stop) {
                own += try record(found.take(), of: namespace, pass)
                try kernel.keepLease()
            }
        } catch is ScanStopped {
            throw StopAsked()
        }
        own += try record(found.take(), of: namespace, pass)
        own -= try ledger.remove(of: namespace, except: pass, under: &kernel)
        collections[index].entries = own
        try save()
        // The scan adds a document to the queue each time it judges the document. The scan's tally counts each document
        // once.
        let counts = result.tally.counts
        let failing = counts.certain + (watch.options.isStrict ? counts.possible : 0)
        watch.events(.wasRead(namespace, documents: counts.read, failing: failing))
        isUncounted = true
    }

    private func options(tellingOf found: FailingQueue) -> ScanOptions {
        var options = ScanOptions()
        options.threads = watch.options.threads
        options.isStopped = { [stop = kernel.stop] in stop.isRaised }
        let least: Verdict = watch.options.isStrict ? .possible : .certain
        options.listeners.onFailure = { if $0.verdict >= least { found.add(FailingID(id: $0.id, $0.violations)) } }
        return options
    }

    private mutating func record(_ found: [FailingID], of namespace: Namespace, _ pass: ObjectID) throws -> Int {
        let entries = found.map { ledger.entry($0.id, of: namespace, $0.violation, pass: pass) }
        return try ledger.record(entries, under: &kernel)
    }
}

extension WatchedCollection {
    /// Returns a clause that says why the ledger's entries for the collection are unreliable; `nil` if they are
    /// reliable.
    ///
    /// They are unreliable if their number is not ``entries``, the number that the watch left in the ledger. If
    /// ``entries`` is `nil`, they count as reliable.
    /// - Parameter held: how many entries the ledger has for each collection.
    fileprivate func lack(of held: [Namespace: Int]) -> String? {
        let held = held[namespace] ?? 0
        guard let entries, entries != held else { return nil }
        return "the ledger holds \(held) of its entries, but the watch left \(entries)"
    }
}
