package import BSON
package import Checking
import Concurrency
package import Mongo
import SystemPackage

/// Checks the documents of a live collection; the options may restrict the check to some documents.
package struct CollectionScan: Sendable {
    let pool: ClientPool
    private(set) var schema: CompiledSchema
    let namespace: Namespace
    let options: ScanOptions

    /// Prepares a scan.
    /// - Parameter namespace: The collection to read; `nil` for the one that the schema names.
    package init(
        _ schema: CompiledSchema, of namespace: Namespace? = nil, on pool: ClientPool, options: ScanOptions
    ) {
        self.pool = pool
        self.schema = schema
        self.namespace = namespace ?? schema.namespace
        self.options = options
    }

    /// Reads the documents on several threads, and then judges those documents again that changed during the scan.
    /// - Throws: ``MongoError``, ``ScanStopped``, or ``BSONError`` for a damaged document.
    package func run() async throws -> ScanResult {
        guard schema.dependsOnCollation else { return try await scan() }
        var scan = self
        let collection = try await pool.withClient { client throws(MongoError) in
            try client.readableCollection(namespace)
        }
        // Without a UUID, the server has not shown the options of the collection.
        scan.schema = schema.with(collation: collection?.collation, isKnown: collection?.uuid != nil)
        return try await scan.scan()
    }

    private func scan() async throws -> ScanResult {
        let (tracker, missing) = try await track()
        defer { tracker?.close() }
        let parts = try await threads.run { queue in try work(queue, tracker) }
        return try await onOwnedThread(name: "second look") { () throws in
            var result = ScanResult(tally: options.makeTally(schema), missing: missing)
            var unique = UniqueSearch(logs: parts.compactMap(\.keys), options: options)
            if let tracker { try amend(&result, parts, tracker, &unique) }
            for part in parts { result.tally.merge(part.tally) }
            let unjudged = options.unjudgedKeys(of: schema, server: try askServer(&result, &unique))
            result.missing += unjudged.map { MissingGuarantee(.everyIndex, $0.reason) }
            result.unjudgedKeys = unjudged.map(\.name)
            try unique.count(in: &result.tally)
            try compareIDTexts(&result)
            return result
        }
    }

    private var threads: RangeThreads { RangeThreads(namespace, on: pool, options: options) }

    /// Reads and judges documents on one thread until the queue has no more parts.
    private func work(_ queue: RangeQueue, _ tracker: ChangeTracker?) throws -> ScanPart {
        let part = ScanPart(schema, options: options, tracksChanges: tracker != nil)
        do {
            let client = try pool.client()
            // The session starts at the tracker's start time, so that even a lagging member returns no versions of
            // documents from before the start of the change stream.
            let session = try ScanSession(queue, client, from: tracker?.start)
            try read(queue, into: part, client, session)
            part.readTime = session.operationTime
        } catch {
            // After an error of one thread, the other threads need not read any more parts, because the scan fails or
            // starts over.
            queue.close()
            throw error
        }
        return part
    }

    /// Takes parts of the collection from the queue until none is left, and adds their documents to `part`.
    private func read(
        _ queue: RangeQueue, into part: ScanPart, _ client: borrowing Client, _ session: borrowing ScanSession
    ) throws {
        let collection = client.collection(namespace)
        var follower: LinkFollower?
        if let targets = options.judging.linkTargets {
            let isStopped = options.isStopped
            follower = LinkFollower(
                schema, targets: targets, on: client, isStopped: { isStopped() || queue.isClosed },
                place: options.judging.place)
        }
        var pacer = ScanPacer(options, queue)
        defer { pacer.finish() }
        while let range = queue.next() {
            try threads.lend(range, of: collection, session) { document in
                try part.add(document, ledger: options.judging.ledger)
                try follower?.add(document, to: part)
                return pacer.mayContinue() && !queue.isClosed
            }
            if options.isStopped() { throw ScanStopped() }
            try follower?.flush(into: part)
        }
    }
}

// MARK: documents whose `_id`s have the same text

extension CollectionScan {
    /// Counts the documents whose `_id` has the same text as the `_id` of another document, such as 1 and "1".
    ///
    /// Does nothing if the sync engine treats these documents as different documents.
    private func compareIDTexts(_ result: inout ScanResult) throws {
        guard schema.comparesIDTexts else { return }
        guard options.selection.isEmpty, options.sampleSize == nil else {
            result.missing.append(
                MissingGuarantee(.everyDocument, "not all were read, so \(EqualTextSearch.missing)"))
            return
        }
        guard result.tally.canHaveEqualTexts else { return }
        do {
            try readAgain("_ids with the text of another one", &result, compareIDTexts)
        } catch let error as Errno {
            result.missing.append(MissingGuarantee(.everyDocument, EqualTextSearch.missing(because: error)))
        }
    }

    private func compareIDTexts(_ result: inout ScanResult, _ common: BSONDocument) throws {
        // With the hint, the server reads only the index of `_id`, and not the documents. A view has no index.
        let all = common.appending("projection", ["_id": 1])
        let client = try pool.client()
        let collection = client.collection(namespace)
        var search = EqualTextSearch(schema, folder: options.temporaryFolder)
        let ids = try search.ids { body in
            var cursor = collection.find(options: options.isView ? all : all.appending("hint", ["_id": 1]))
            while let document = try cursor.next() {
                try body(document)
                if options.isStopped() { throw ScanStopped() }
            }
        }
        var tally = result.tally
        try IDReader(collection: collection, options: common).read(ids) { document in
            if let id = try document.find("_id").map({ try document.value($0) }) {
                options.listeners.onRetraction?(schema.namespace, id)
            }
            try tally.countEqualText(document, ledger: options.judging.ledger)
        }
        result.tally = tally
        if search.isIncomplete {
            result.missing.append(MissingGuarantee(.everyDocument, EqualTextSearch.incomplete))
        }
    }
}

// MARK: a second reading

extension CollectionScan {
    /// Calls `body` with the options of commands that read documents as they were at the scan's cluster time.
    ///
    /// The server may no longer have the documents as they were then. The call is then repeated without a time.
    /// - Parameter what: What `body` looks for, for a remark that it was looked for after the scan.
    private func readAgain(
        _ what: String, _ result: inout ScanResult, _ body: (inout ScanResult, BSONDocument) throws -> Void
    ) throws {
        func options(_ concern: BSONValue) -> BSONDocument { ["readConcern": concern, "comment": "shipshape check"] }
        guard let time = result.clusterTime else { return try body(&result, options(["level": "majority"])) }
        do {
            try body(&result, options(["level": "snapshot", "atClusterTime": .timestamp(time.rawValue)]))
        } catch let error as MongoError where !error.isCursorLost {
            try body(&result, options(["level": "majority"]))
            result.clusterTime = nil
            result.missing.append(MissingGuarantee(.oneMoment, "\(what) were looked for after the scan"))
        }
    }

    /// Lets the server find the documents that unique indexes with a collation or a filter refuse.
    /// - Returns: The reason why the server did not, as a clause; `nil` if it did.
    private func askServer(_ result: inout ScanResult, _ unique: inout UniqueSearch) throws -> String? {
        let indexes = schema.uniqueKeys.enumerated().filter { $1.needsServer && $1.unjudged == nil }
        guard !indexes.isEmpty, options.selection.isEmpty, options.sampleSize == nil else { return nil }
        do {
            var log: UniqueLog?
            try readAgain("equal values by the server", &result) { _, common in
                log = UniqueLog(schema, options: options)
                let client = try pool.client()
                for (number, index) in indexes {
                    try record(ServerKeys(index: index, number: number), client, common, in: log)
                }
            }
            unique.settled += [log].compactMap(\.self)
            return nil
        } catch let error as MongoError where !error.isCursorLost {
            return "the server could not compare them: \(error)"
        }
    }

    /// Records the documents that an index refuses, under the verdicts under which the scan counted them.
    private func record(
        _ keys: ServerKeys, _ client: borrowing Client, _ common: BSONDocument, in log: UniqueLog?
    ) throws {
        var judging = options
        judging.listeners = ScanOptions.Listeners()
        var tally = judging.makeTally(schema)
        let collection = client.collection(namespace)
        let reader = IDReader(collection: collection, options: common)
        var shared: [(answer: ServerKeys.Answer, key: Int)] = []
        func flush() throws {
            var counted: [IDKey: CountedVerdicts] = [:]
            try reader.read(shared.map(\.answer.id)) { document in
                guard let id = try document.find("_id") else { return }
                try tally.add(document, ledger: options.judging.ledger)
                counted[IDKey(try document.value(id))] = tally.lastCounted
            }
            for (answer, key) in shared {
                if let verdicts = counted[IDKey(answer.id)] { log?.add(answer, of: keys.number, shared: key, verdicts) }
            }
            shared = []
            if options.isStopped() { throw ScanStopped() }
        }
        try keys.read(collection, common, keepingValues: options.judging.tally.keepsValues) { answer, key in
            shared.append((answer, key))
            if shared.count == 1_000 { try flush() }
        }
        try flush()
    }
}

// MARK: changes during the scan

extension CollectionScan {
    /// Starts to follow the collection's changes.
    /// - Returns: The tracker, and the guarantees that the results lack. If the changes cannot be followed, the tracker
    ///   is `nil`. For a sample, the tracker is `nil` as well, but the results lack no guarantee.
    private func track() async throws -> (ChangeTracker?, [MissingGuarantee]) {
        func without(_ reason: String) -> (ChangeTracker?, [MissingGuarantee]) {
            (nil, [MissingGuarantee(.oneMoment, reason)])
        }
        if options.sampleSize != nil { return (nil, []) }
        if options.isView {
            let cursor = MissingGuarantee(.resumable, "\(namespace) is a view, and a view has no _id index")
            let (tracker, missing) = without("\(namespace) is a view, and a view has no change stream")
            return (tracker, missing + [cursor])
        }
        let pool = pool
        let start = try await pool.withClient { client throws(MongoError) in try client.operationTime() }
        guard start > 0 else {
            return without("the server is not a member of a replica set, so it has no change streams")
        }
        let tracker = ChangeTracker(
            namespace, from: ClusterTime(rawValue: start), for: "check", on: pool, isSmall: options.isSmall,
            isStopped: options.isStopped)
        do {
            try await onOwnedThread(name: "changes open") { () throws(ChangesUnknown) in try tracker.open() }
            return (tracker, [])
        } catch {
            tracker.close()
            return without(error.reason)
        }
    }

    /// Corrects the result for documents that changed during the scan: subtracts the counts of their old versions, and
    /// adds the counts of their new versions.
    private func amend(
        _ result: inout ScanResult, _ parts: [ScanPart], _ tracker: ChangeTracker, _ unique: inout UniqueSearch
    ) throws {
        let recheck = ChangeRecheck(
            schema: schema, namespace: namespace, pool: pool, options: options, tracker: tracker)
        do {
            let outcome = try recheck.run(after: parts.map(\.readTime).max() ?? 0)
            // The counts to subtract are computed for all parts before any is subtracted, because an error in between
            // would leave wrong counts.
            let additions = try parts.map { part throws(ChangesUnknown) in try part.additions(of: outcome.changed) }
            for (part, additions) in zip(parts, additions) { part.subtract(additions) }
            result.tally.merge(outcome.tally)
            (unique.changed, unique.settled) = (outcome.changed, [outcome.keys].compactMap(\.self))
            result.changedCount = outcome.changed.count
            if outcome.changed.isIncomplete {
                throw ChangesUnknown(
                    reason: "too many documents changed during the scan: only \(outcome.changed.count) of them were "
                        + "judged again")
            }
            if options.judging.linkTargets != nil, !schema.linkTargets.isEmpty {
                throw ChangesUnknown(reason: "linked documents were looked up during the scan only, not at its end")
            }
            if let blur = outcome.blur {
                result.missing.append(MissingGuarantee(.oneMoment, blur))
            } else {
                result.clusterTime = outcome.time
            }
        } catch let error as ChangesUnknown {
            if options.isStopped() { throw ScanStopped() }
            result.missing.append(MissingGuarantee(.oneMoment, error.reason))
        }
    }
}
