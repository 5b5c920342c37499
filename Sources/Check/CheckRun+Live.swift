package import BSON
package import Checking
import Concurrency
package import Files
import JobState
package import Mongo
package import Scanning
import SchemaChange
import ServerSchema
internal import Synchronization

extension CheckRun {
    /// Checks the documents of a live deployment.
    package func check(live pool: ClientPool) async throws -> CheckReport {
        let started = ContinuousClock.now
        let ledger = try await ledger.read(on: pool)
        let namespaces = schema.collections.map { map.target(of: $0.namespace) }
        let targets = try await find(namespaces, on: pool)
        let hints = try await mapHints(
            for: zip(schema.collections, targets).filter { !$1.exists }.map(\.0), on: pool)
        guard targets.contains(where: \.exists) else {
            if !hints.isEmpty { throw InputError(hints.joined(separator: "; ")) }
            throw InputError(
                "no collection of the schema exists in the deployment (for example, "
                    + "\(namespaces.map(\.description).min() ?? "") is missing): check the names, or give the right "
                    + "ones with --map"
            )
        }
        try await checkReadable(zip(namespaces, targets).filter { $1.exists }, on: pool)
        for (collection, target) in zip(schema.collections, targets) {
            try TemporaryFileError.checkRoom(for: compile(collection), documents: target.estimatedCount)
        }
        let progress = makeProgress(targets.reduce(0) { $0 + ($1.estimatedCount ?? 0) })
        defer { progress.finish() }
        var notes = schemaNotes + ledger.notes + hints
        let change = try await baseline?.changeWithPartners(in: stateDatabase, on: pool) { [map] in
            map.target(of: $0)
        }
        let server = try await comparedServer(on: pool)
        var absent: [Namespace] = []
        var jobs: [JobTrace] = []
        var collections: [CheckReport.Collection] = []
        for ((collection, namespace), target) in zip(zip(schema.collections, namespaces), targets) {
            let compiled = compile(collection)
            guard target.exists else {
                absent.append(namespace)
                collections.append(emptyCollection(compiled))
                continue
            }
            var options = options(collection.namespace, ledger.index, progress)
            options.isView = target.kind != .collection
            options.isSmall = target.estimatedCount.map { $0 < Self.smallCount } ?? false
            if options.isSmall { options.threads = 1 }
            if let note = try await choose(into: &options, for: compiled, on: pool) { notes.append(note) }
            let failing = FailingAlready()
            if baseline != nil { options.listeners.onAlreadyFailing = { failing.add($0) } }
            let scan = CollectionScan(compiled, of: namespace, on: pool, options: options)
            let begun = ContinuousClock.now
            var result = try await stopping(progress) { try await scan.run() }
            let scanned = begun.duration(to: .now)
            try await target.checkUnchanged(namespace, on: pool)
            if let trace = try await trace(&result.tally, failing, on: pool) { jobs.append(trace) }
            var part = CheckReport.Collection(result.tally, estimatedCount: target.estimatedCount)
            part.reading = try await reading(result, of: collection.namespace, options, target, on: pool)
            if proves { try await prove(&part, of: options.selection, on: pool) }
            if let server {
                part.reading.comparison = try await stopping(progress) {
                    try await compare(collection, part, with: server, after: scanned, options, on: pool)
                }
            }
            part.partner =
                change?.changes.lazy.compactMap(\.partner).first { $0.source == collection.namespace }?.target
            collections.append(part)
        }
        let removed = zip(removedNamespaces, try await find(removedNamespaces.map { map.target(of: $0) }, on: pool)).map
        { namespace, target in
            RemovedCollection(namespace: namespace, documentCount: target.exists ? target.estimatedCount : 0)
        }
        var report = CheckReport(
            source: pool.redactedURI, active: activeSchema(change, removed, collections), collections: collections,
            absent: absent, sync: circumstances, ledger: ledger.index?.total, limit: limit,
            exceptions: rules.exceptions?.use(in: collections), notes: notes,
            duration: started.duration(to: .now))
        if var change = report.active?.change {
            try await count(&change.moves, on: pool)
            report.active?.difference = .computed(change)
        }
        report.jobs = jobs
        report.notes += (change?.notes ?? []).dropFirst(baseline?.change.notes.count ?? 0)
        // Links are counted over whole collections. If a check runs in parts, only the first part counts them, because
        // every other part would count the same links again.
        if scan.part.map({ $0.number == 1 }) ?? true {
            report.active?.backlinks = try await baseline?.backlinks(on: pool) { [map] in map.target(of: $0) } ?? []
        }
        return report
    }

    /// Counts the documents that hold a field only under its older name.
    private func count(_ moves: inout [ValueMove], on pool: ClientPool) async throws {
        guard !moves.isEmpty else { return }
        let found = moves.map { (map.target(of: $0.namespace), $0.filter) }
        let counts = try await onOwnedThread(name: "moves") { () throws in
            let client = try pool.client()
            return try found.map { namespace, filter in
                try filter.map { try client.collection(namespace).countDocuments($0) }
            }
        }
        for (index, count) in counts.enumerated() { moves[index].documents = count }
    }

    /// The number of documents below which a collection is read by one thread, because a second one would cost more
    /// than it saves.
    private static let smallCount = 10_000

    package func find(_ namespaces: [Namespace], on pool: ClientPool) async throws -> [LiveTarget] {
        try await onOwnedThread(name: "look-up") { () throws in
            let client = try pool.client()
            return try namespaces.map { try LiveTarget.find($0, on: client) }
        }
    }
}

/// Collects the documents that fail under both the active and the new schema.
///
/// Some of these documents may fail only because a job changed them before the new schema is deployed. The check
/// therefore looks them up in the journals of the jobs.
package final class FailingAlready: Sendable {
    /// The maximum number of `_id`s that are kept.
    private static let maximum = 100_000

    private let state = Mutex<(ids: Set<IDKey>, isFull: Bool)>(([], false))

    /// Adds the `_id` of a document, or sets `isFull` instead if the maximum number of `_id`s is kept already.
    ///
    /// All threads of a scan call this method.
    package func add(_ id: BSONValue) {
        state.withLock { state in
            let key = IDKey(id)
            if state.ids.count < Self.maximum {
                state.ids.insert(key)
            } else if !state.ids.contains(key) {
                state.isFull = true
            }
        }
    }

    /// The `_id`s that were kept; `isFull` is `true` if there were more `_id`s than are kept.
    package var all: (ids: Set<IDKey>, isFull: Bool) { state.withLock { $0 } }
}

extension CheckRun {
    /// Returns the effects of jobs on a collection, and corrects the scan's counts; `nil` without an active schema.
    ///
    /// A job that runs before the new schema is deployed may have changed a document so that it fits neither the active
    /// nor the new schema. If the document synced before that change, it counts as newly failing.
    /// - Parameters:
    ///   - tally: the counts of the scan under both schemas.
    ///   - failing: the documents that fail under both schemas.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    package func trace(_ tally: inout Tally, _ failing: FailingAlready, on pool: ClientPool) async throws -> JobTrace? {
        guard baseline != nil else { return nil }
        let (ids, isFull) = failing.all
        let namespace = map.target(of: tally.schema.namespace)
        let counted = tally
        let texts = Set(schema.sources.map(\.text))
        let database = stateDatabase
        let (trace, changed) = try await onOwnedThread(name: "jobs") { () throws in
            var trace = JobTrace(namespace: namespace)
            var tally = counted
            do {
                let client = StoreClient(database: database, client: try pool.client())
                let history = try JobHistory(of: namespace, in: client)
                trace.unfinished = history.jobs.filter { $0.isUnfinished && $0.serves(texts) }.map {
                    JobTrace.Unfinished(job: $0.name, state: $0.state)
                }
                guard !ids.isEmpty else { return (trace, tally) }
                let synced = try Self.synced(ids, history, &tally, namespace, on: pool)
                trace.convertedCount = synced
                trace.gaps += history.jobs.filter { $0.modified > 0 && !$0.hasJournal }.map {
                    "job \"\($0.name)\" has no journal, so documents that it converted may count as already failing"
                }
                if isFull {
                    trace.gaps.append(
                        "too many documents fail already to look up all of them: jobs may have caused some failures")
                }
            } catch let error as MongoError where error.isAuthorization {
                guard !ids.isEmpty else { return (trace, tally) }
                trace.gaps.append(
                    "the user is not allowed to read the state database \"\(database)\": documents that jobs converted "
                        + "before the deploy count as already failing")
            } catch let error as RunError {
                trace.gaps.append("\(error): documents that jobs converted may count as already failing")
            }
            return (trace, tally)
        }
        tally = changed
        return trace
    }

    /// Counts documents as newly failing, instead of already failing, if they synced before a job changed them.
    /// - Returns: the number of documents that now count as newly failing.
    private static func synced(
        _ ids: Set<IDKey>, _ history: JobHistory, _ tally: inout Tally, _ namespace: Namespace, on pool: ClientPool
    ) throws -> Int {
        guard !history.jobs.isEmpty else { return 0 }
        let changes = try history.changes(of: ids)
        let reserved = try history.reserved(ids)
        let affected = Set(changes.keys).union(reserved)
        guard !affected.isEmpty else { return 0 }
        let client = try pool.client()
        let reader = IDReader(
            collection: client.collection(namespace),
            options: ["readConcern": ["level": "majority"], "comment": "shipshape check jobs"])
        var count = 0
        try reader.read(affected.map(\.value)) { view in
            let document = BSONDocument(copying: view)
            guard let id = document["_id"].map(IDKey.init), affected.contains(id) else { return }
            // The journals show whether the document fitted the active schema before a job changed it. If no journal
            // has a change of the document, a job's reservation counts as a sign that the document fitted: the job
            // expected to make it unsyncable. This sign is weaker, because the job may have left the document syncable.
            let wasSynced =
                try changes[id].map { try tally.fittedBefore(document, $0) } ?? reserved.contains(id)
            if wasSynced, try tally.countAsNew(view) { count += 1 }
        }
        return count
    }
}

extension Tally {
    /// Whether a document fitted the active schema before at least one of the changes that jobs made to it.
    /// - Parameter changes: the changes, the oldest first.
    fileprivate func fittedBefore(_ document: BSONDocument, _ changes: [JournalGroup]) throws -> Bool {
        var earlier = document
        for change in changes.reversed() {
            earlier = try change.restored(earlier)
            if try fitsActive(earlier.view) { return true }
        }
        return false
    }
}

extension JobHistory.Job {
    /// Whether the job prepares documents for the checked schema: a file of the job's next schema has the same text as
    /// one of the checked schema's files.
    ///
    /// Also `true` for a job that names no next schema.
    /// - Parameter texts: the texts of the files of the checked schema.
    fileprivate func serves(_ texts: Set<String>) -> Bool { next.isEmpty || !texts.isDisjoint(with: next) }
}

/// The data that a check reads from the ledger of unsynced documents.
package struct CheckedLedger {
    /// The documents in the ledger; `nil` if there is no ledger.
    package var index: LedgerIndex?
    /// Notes on the ledger for the reader of the report, one clause each.
    package var notes: [String] = []
}

extension LedgerScope {
    /// Returns the error for a ledger that was not found; `nil` if the operator named no ledger.
    ///
    /// The operator may have mistyped the name, so a command must not take the missing collection for an empty ledger.
    package static func missing(_ location: LedgerLocation) -> UsageError? {
        guard case .named(let ledger) = location else { return nil }
        return UsageError("ledger \(ledger): there is no such collection (if there is no ledger, set ledger to none)")
    }

    /// Reads the ledger.
    /// - Throws: ``LedgerUnreadable`` if the user is not allowed to read it; ``UsageError`` if a named ledger does not
    ///   exist; ``MongoError``.
    package func read(on pool: ClientPool) async throws -> CheckedLedger {
        do {
            return try await onOwnedThread(name: "ledger") { () throws in
                guard let reader = try LedgerReader.open(self, on: try pool.client()) else {
                    if let error = Self.missing(location) { throw error }
                    return CheckedLedger()
                }
                let index = try reader.index()
                return CheckedLedger(index: index, notes: notes(on: index.total, by: reader))
            }
        } catch let error as MongoError where error.isAuthorization {
            throw unreadable
        }
    }
}

extension CheckRun {
    /// Counts on the server how many documents the filter of each violation group finds, so that the report can show
    /// where these counts differ from those of the scan.
    package func prove(_ part: inout CheckReport.Collection, of selection: BSONDocument, on pool: ClientPool)
        async throws
    {
        // The server cannot restrict a count to the documents of a sample, because the scan does not record which
        // documents it read.
        if case .sample = part.reading.selection { return }
        let filters = part.groups.map(\.filter)
        let proof = FilterProof(part.reading.namespace ?? part.namespace, selection: selection)
        let counts = try await onOwnedThread(name: "proof") { () throws in
            try proof.counts(filters, on: try pool.client())
        }
        for (index, count) in counts.enumerated() { part.groups[index].provenCount = count }
    }
}
