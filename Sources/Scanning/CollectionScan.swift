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
        guard !schema.uniqueKeys.isEmpty else { return try await scan() }
        var scan = self
        scan.schema = try await schema.with(
            collation: pool.withClient { client throws(MongoError) in
                try client.readableCollection(namespace)?.collation
            })
        return try await scan.scan()
    }

    private func scan() async throws -> ScanResult {
        let (tracker, missing) = try await track()
        defer { tracker?.close() }
        let parts = try await threads.run { queue in try work(queue, tracker) }
        return try await onOwnedThread(name: "second look") { () throws in
            var result = ScanResult(tally: options.makeTally(schema), missing: missing)
            var unique = UniqueSearch(logs: parts.compactMap(\.keys), temporaryFolder: options.temporaryFolder)
            if let tracker { try amend(&result, parts, tracker, &unique) }
            for part in parts { result.tally.merge(part.tally) }
            try unique.count(in: &result.tally)
            result.missing += options.unjudgedKeys(of: schema).map { MissingGuarantee(.everyIndex, $0.reason) }
            result.unjudgedKeys = options.unjudgedKeys(of: schema).map(\.name)
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
                MissingGuarantee(
                    .everyDocument, "not all were read, so _ids with the text of another one were not looked for"))
            return
        }
        guard result.tally.canHaveEqualTexts else { return }
        do {
            try compareIDTexts(&result, as: result.clusterTime)
        } catch let error as MongoError where result.clusterTime != nil && !error.isCursorLost {
            // The server may no longer have the documents as they were at the scan's cluster time, so the search is
            // repeated without a cluster time.
            (result.clusterTime, result.missing) = (
                nil,
                result.missing + [
                    MissingGuarantee(.oneMoment, "_ids with the text of another one were looked for after the scan")
                ]
            )
            try compareIDTexts(&result, as: nil)
        } catch let error as Errno {
            result.missing.append(
                MissingGuarantee(
                    .everyDocument,
                    "_ids with the text of another one were not looked for, because the temporary "
                        + "file failed: \(error) (TMPDIR names its folder)"))
        }
    }

    private func compareIDTexts(_ result: inout ScanResult, as time: ClusterTime?) throws {
        let concern: BSONValue =
            if let time { ["level": "snapshot", "atClusterTime": .timestamp(time.rawValue)] } else {
                ["level": "majority"]
            }
        let common: [(String, BSONValue)] = [("readConcern", concern), ("comment", "shipshape check")]
        // With the hint, the server reads only the index of `_id`, and not the documents. A view has no index.
        let hint: [(String, BSONValue)] = options.isView ? [] : [("hint", ["_id": 1])]
        let client = try pool.client()
        let collection = client.collection(namespace)
        var search = EqualTextSearch(schema, folder: options.temporaryFolder)
        let ids = try search.ids { body in
            var cursor = collection.find(options: BSONDocument(common + hint + [("projection", ["_id": 1])]))
            while let document = try cursor.next() {
                try body(document)
                if options.isStopped() { throw ScanStopped() }
            }
        }
        var tally = result.tally
        try IDReader(collection: collection, options: BSONDocument(common)).read(ids) { document in
            if let id = try document.find("_id").map({ try document.value($0) }) {
                options.listeners.onRetraction?(schema.namespace, id)
            }
            try tally.countEqualText(document, ledger: options.judging.ledger)
        }
        result.tally = tally
        if search.isIncomplete {
            result.missing.append(
                MissingGuarantee(.everyDocument, "more _ids have the text of another one than can be compared"))
        }
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
            (unique.changed, unique.recheck) = (outcome.changed, outcome.keys)
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
