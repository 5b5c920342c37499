package import BSON
package import Checking
package import Concurrency
import Files
import JobState
import Jobs
package import Mongo
import Privileges
package import Reporting
package import Scanning
package import SchemaChange
package import ServerSchema

/// One run of `check`: reads each collection of the schema and puts the report together.
package struct CheckRun {
    package private(set) var schema: ServerSchema
    /// Whether the operator named a schema; `false` if the operator named only a sync engine.
    package var hasSchema = true
    /// The schema that is live now; `nil` if the operator names none.
    package var baseline: Baseline?
    package let limit: Int
    package var ledger = LedgerScope()
    package let scan: ScanSelection
    package private(set) var map: NamespaceMap
    /// Returns what shows the progress of a scan of a number of documents, which may be unknown.
    package let makeProgress: @Sendable (Int?) -> any ScanProgress
    package let stop: StopSignal
    package var rules = CheckRules()
    package var stateDatabase = "shipshape"
    /// The file that every failing document is written to, and the format of its lines.
    package var failures: (file: FailuresFile, lines: FailureLines)?
    /// Notes on the flags, for the reader of the report.
    package var notes: [String] = []
    /// The `_id`s at which `--part` divides a collection, for each collection whose documents are read.
    package var cuts: [Namespace: [BSONValue]] = [:]
    /// Whether the server also counts the documents that the filter of each violation group finds.
    package var proves = false
    /// Whether verdicts are compared with the server's even on a version that the program was tested on.
    package var comparesVerdicts = false

    /// Creates a check.
    /// - Parameters:
    ///   - limit: the number of unsynced documents at which sync stops.
    ///   - makeProgress: returns what shows the progress of a scan of a number of documents, which may be unknown.
    package init(
        schema: ServerSchema, limit: Int, scan: ScanSelection, map: NamespaceMap,
        makeProgress: @escaping @Sendable (Int?) -> any ScanProgress, stop: StopSignal
    ) {
        self.schema = schema
        self.limit = limit
        self.scan = scan
        self.map = map
        self.makeProgress = makeProgress
        self.stop = stop
    }

    package func compile(_ collection: CollectionSchema) -> CompiledSchema { rules.compile(collection, of: schema) }

    /// Returns a copy of the check for another database, whose collections have the same names as those of the schema.
    package func moved(from own: String, to database: String) throws -> CheckRun {
        var run = self
        run.schema = schema.moved(from: own, to: database)
        run.baseline = baseline?.moved(from: own, to: database)
        run.rules.exceptions = rules.exceptions?.moved(from: own, to: database)
        // The schema changes still name the schema's own database, so the map replaces this name by `database`.
        run.map = try NamespaceMap(
            [NamespaceMapping(database: own, in: database)], for: schema.collections.map(\.namespace))
        return run
    }

    /// Returns the active schema of a collection; `notCovered` if that schema lacks the collection, `notAsked` if the
    /// check has no active schema.
    package func active(for namespace: Namespace) -> ActiveSchema {
        guard let active = baseline?.schema else { return .notAsked }
        return active[namespace].map { .covered(rules.compile($0, of: active)) } ?? .notCovered
    }

    /// Returns the schemas of the collections that a collection's links lead to; `nil` if links are not followed.
    private func linkTargets(of namespace: Namespace) -> [Namespace: CompiledSchema]? {
        guard rules.followsLinks else { return nil }
        let targets = Set(schema[namespace]?.relationships.map(\.target) ?? [])
        let collections = (schema.collections + schema.neighbours).filter { targets.contains($0.namespace) }
        return Dictionary(collections.map { ($0.namespace, compile($0)) }) { first, _ in first }
    }

    /// The sync settings that affect the deployment of the new schema, from the exports of the app.
    package var circumstances: SyncCircumstances { SyncCircumstances(active: baseline?.schema.sync, new: schema.sync) }

    /// The collections that the active schema covers and the new schema does not.
    ///
    /// The deployment of the new schema removes their schemas.
    package var removedNamespaces: [Namespace] {
        baseline?.schema.collections.map(\.namespace).filter { schema[$0] == nil } ?? []
    }

    package func options(_ namespace: Namespace, _ ledger: LedgerIndex?, _ progress: any ScanProgress) -> ScanOptions {
        var options = ScanOptions()
        options.judging.active = active(for: namespace)
        options.threads = scan.threads
        options.judging.tally = rules.tally
        options.judging.linkTargets = linkTargets(of: namespace)
        options.judging.exceptions = rules.exceptions?.active ?? []
        if let (file, lines) = failures {
            options.listeners.onFailure = { file.add(lines.line($0)) }
            options.listeners.onRetraction = { namespace, id in lines.retraction(namespace, id).map(file.add) }
        }
        options.listeners.onRestart = { [failures] reason in
            progress.note("the scan of \(namespace) starts over by _id: \(reason)")
            if let (file, lines) = failures { file.add(lines.retraction(namespace)) }
        }
        options.judging.ledger = ledger
        options.isStopped = { [stop, failures] in stop.isRaised || failures?.file.hasFailed == true }
        options.listeners.progress = { progress.add($0) }
        return options
    }

    /// A digest of the schemas, the limit, the flags that affect the findings, and the `_id`s between the parts.
    ///
    /// The parts are those of `--part`. The reports of all parts of one check have the same digest, by which `merge`
    /// recognizes them.
    package var digest: String {
        let sources = [schema, baseline?.schema].map { ($0?.sources ?? []).flatMap { [$0.path, $0.text] } }
        let flags =
            "\(limit) \(rules.tally.includesInfo) \(rules.followsLinks) \(rules.assumptions) \(ledger.apps) "
            + "\(scan.map) \(rules.exceptions?.active ?? [])"
        let bounds = BSONDocument(
            cuts.sorted { $0.key < $1.key }.map { ("\($0.key)", BSONValue.array(of: $0.value)) })
        return SHA256.text(
            of: Array((sources.flatMap { $0 + [""] } + [flags]).joined(separator: "\u{0}").utf8) + bounds.bytes)
    }

    /// Notes on the flags, the schema and the exceptions, for the reader of the report.
    package var schemaNotes: [String] { notes + schema.notes.map(\.description) + (rules.exceptions?.notes ?? []) }

    /// Returns the result for a collection that does not exist and therefore has no documents.
    package func emptyCollection(_ schema: CompiledSchema) -> CheckReport.Collection {
        CheckReport.Collection(Tally(schema, active: active(for: schema.namespace)))
    }

    /// Runs `body`, which reads documents; a stop signal or an unwritable `--failures` file ends the command.
    package func stopping<R>(_ progress: any ScanProgress, _ body: () async throws -> R) async throws -> R {
        do {
            return try await progress.stopping(body)
        } catch let stopped as ReadingStopped {
            throw failures?.file.error ?? stopped
        }
    }
}

extension CheckRun {
    /// Checks a dump, an export or standard input instead of a deployment.
    package func check(source path: String, connection: ClientPool?) async throws -> CheckReport {
        let started = ContinuousClock.now
        var found = CheckedLedger()
        if let connection { found = try await ledger.read(on: connection) }
        let progress = makeProgress(nil)
        defer { progress.finish() }
        let (name, scanned) = try await scan(path, found.index, progress)
        var notes = schemaNotes + found.notes + scanned.facts.notes
        if baseline?.change.changes.embeddedTargets.isEmpty == false {
            notes.append("links to objects that become embedded are not counted in a dump")
        }
        if connection == nil, ledger.location != .none {
            notes.append("no ledger was read: give --uri to count the documents that are unsynced already")
        }
        let removed = removedNamespaces.map { namespace in
            RemovedCollection(
                namespace: namespace, documentCount: scanned.facts.absent.contains(map.target(of: namespace)) ? 0 : nil)
        }
        let collections = zip(scanned.tallies, scanned.missing).map(collection)
        var report = CheckReport(
            source: name, active: activeSchema(baseline?.change, removed, collections),
            collections: collections,
            sync: circumstances, ledger: found.index?.total, limit: limit,
            exceptions: rules.exceptions?.use(in: collections), notes: notes,
            duration: started.duration(to: .now))
        report.verdict.isLedgerUnread = connection == nil && ledger.location != .none
        return report
    }

    /// Scans a source; what is needed only for the scan takes no memory after it.
    /// - Returns: the name of the source, and what was found.
    private func scan(
        _ path: String, _ ledger: LedgerIndex?, _ progress: any ScanProgress
    ) async throws -> (String, SourceFindings) {
        let parts = schema.collections.map { collection in
            var options = options(collection.namespace, ledger, progress)
            options.judging.place = { [map] in map.target(of: $0) }
            return SourceScan.Part(compile(collection), options)
        }
        let scan = SourceScan(parts, source: path, others: removedNamespaces.map { map.target(of: $0) })
        let found = try await stopping(progress) {
            try await onOwnedThread(name: "source") { () throws in try scan.run() }
        }
        return (scan.name, found)
    }

    /// Returns the comparison with the active schema; `nil` if the operator named no active schema.
    ///
    /// A new unique index is breaking if it refuses documents of the collections.
    package func activeSchema(
        _ change: DiffReport?, _ removed: [RemovedCollection], _ collections: [CheckReport.Collection]
    ) -> CheckReport.ActiveSchema? {
        var change = change
        for index in change?.changes.indices ?? 0..<0 {
            guard let key = change?.changes[index].uniqueKey, let place = change?.changes[index].namespace,
                let groups = collections.first(where: { $0.namespace == place })?.groups
            else { continue }
            change?.weigh(index, refused: groups.documents(refusedBy: key))
        }
        return baseline.map { .init(name: $0.path, difference: change.map { .computed($0) }, removed: removed) }
    }

    private func collection(_ tally: Tally, _ missing: [MissingGuarantee]) -> CheckReport.Collection {
        var collection = CheckReport.Collection(tally)
        collection.reading.namespace = renamed(tally.schema.namespace)
        collection.reading.missing = missing
        return collection
    }
}

extension CheckRun {
    /// Returns the collection of the deployment that `--map` names for a collection of the schema; `nil` if both have
    /// the same name.
    package func renamed(_ namespace: Namespace) -> Namespace? {
        let target = map.target(of: namespace)
        return target == namespace ? nil : target
    }

    /// Sets those options of a scan that depend on the operator's flags.
    /// - Returns: a note for the reader of the report if the prefilter cannot be used; otherwise `nil`.
    package func choose(
        into options: inout ScanOptions, for schema: CompiledSchema, on pool: ClientPool
    ) async throws -> String? {
        options.filter = scan.filter ?? [:]
        options.part = scan.part.map { part in
            (range: IDRange.part(part, between: cuts[map.target(of: schema.namespace)] ?? []), count: part.count)
        }
        options.judging.place = { [map] in map.target(of: $0) }
        options.sampleSize = scan.sample
        options.rate = scan.rate.map { RateLimit(perSecond: $0) }
        guard scan.prefilter, scan.sample == nil, !rules.tally.includesInfo, !rules.followsLinks else { return nil }
        guard let proof = proof(schema, options.judging.active) else {
            let reason = rules.assumptions.engine.map { "the rules of \($0.engine.name) allow" } ?? "its schema allows"
            return "\(schema.namespace): \(reason) no prefilter, so every document is read"
        }
        // The server is asked whether it accepts the prefilter, because its version may refuse a regular expression
        // that this program accepts.
        if let refusal = try await pool.refusal(of: proof, in: map.target(of: schema.namespace)) {
            return "\(schema.namespace): the server refuses the prefilter, so every document is read (\(refusal))"
        }
        options.prefilter = Prefilter(proof: proof)
        return nil
    }

    /// Returns a filter for documents that the check need not read, because they certainly fit the new schema and, if
    /// there is one, the active schema.
    ///
    /// Documents that fit only the new schema are still read, because the report counts them as fixed. Returns `nil` if
    /// a schema allows no such filter.
    private func proof(_ schema: CompiledSchema, _ active: ActiveSchema) -> BSONDocument? {
        guard let proof = schema.proof else { return nil }
        guard case .covered(let active) = active else { return proof }
        return active.proof.map { ["$and": [.object(proof), .object($0)]] }
    }

    /// Returns how a collection was read, for the report.
    ///
    /// For example, the result has the selection of the documents, and the guarantees that the check could not give.
    package func reading(
        _ result: ScanResult, of namespace: Namespace, _ options: ScanOptions, _ target: LiveTarget,
        on pool: ClientPool
    ) async throws -> CheckReport.Collection.Reading {
        var reading = CheckReport.Collection.Reading()
        reading.namespace = renamed(namespace)
        reading.clusterTime = result.clusterTime
        reading.changedCount = result.changedCount
        reading.missing = result.missing
        if target.kind == .collection, target.uuid == nil {
            reading.missing.append(
                MissingGuarantee(.sameCollection, "the user lacks the privilege listCollections on its database"))
        }
        if let sample = options.sampleSize {
            reading.selection = .sample(sample)
        } else if let part = scan.part {
            reading.selection = .part(part)
        } else if let filter = scan.filter {
            reading.selection = .matching(filter)
        }
        let countsParts = options.prefilter != nil && (!options.selection.isEmpty || target.estimatedCount == nil)
        if countsParts {
            let place = map.target(of: namespace)
            let filter = options.selection
            reading.exactCount = try await pool.withClient { client throws(MongoError) in
                let counting: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape check"]
                return try client.collection(place).countDocuments(filter, options: counting)
            }
        }
        if options.prefilter != nil, let all = reading.exactCount ?? target.estimatedCount {
            reading.passedOverCount = max(0, all - result.tally.counts.read)
        }
        return reading
    }

    /// Refuses a time series collection, and a filter of `--where` that the server refuses, before any document is
    /// read.
    package func checkReadable(_ targets: [(namespace: Namespace, target: LiveTarget)], on pool: ClientPool)
        async throws
    {
        if let series = targets.first(where: { $0.target.kind == .timeseries }) {
            throw InputError(
                "\(series.namespace) is a time series, and its measurements can neither sync nor be repaired: leave it "
                    + "out of the schema, or name another collection with --collection")
        }
        guard let filter = scan.filter, let namespace = targets.first?.namespace else { return }
        if let refusal = try await pool.refusal(of: filter, in: namespace) {
            throw UsageError("--where: the server refuses the filter: \(refusal)")
        }
    }

    /// Returns the `_id`s at which `--part` divides each collection, by collection; empty without `--part`.
    ///
    /// The first run of a part stores the `_id`s in the state database, and later runs use them. If the collection has
    /// since grown or shrunk by about half, and by more than 1,000 documents, new `_id`s are chosen.
    package func cutIntoParts(on pool: ClientPool) async throws -> [Namespace: [BSONValue]] {
        guard let part = scan.part else { return [:] }
        let namespaces = schema.collections.map { map.target(of: $0.namespace) }
        let targets = try await find(namespaces, on: pool)
        return try await onOwnedThread(name: "parts") { [stateDatabase] () throws in
            let client = try pool.client()
            var cuts: [Namespace: [BSONValue]] = [:]
            for (namespace, target) in zip(namespaces, targets) where target.exists {
                let store = PartStore(
                    client: StoreClient(database: stateDatabase, client: try pool.client()), checking: namespace,
                    uuid: target.uuid)
                cuts[namespace] = try store.bounds(of: part.count, for: target.estimatedCount ?? 0) {
                    try IDRange.splitting(client.collection(namespace), into: part.count).compactMap(\.upper)
                }
            }
            return cuts
        }
    }
}

/// The display of a scan's progress.
package protocol ScanProgress: Sendable {
    /// Adds to the number of documents that were read; any thread calls it.
    func add(_ count: Int)
    func note(_ line: String)
    func finish()
}

extension ScanProgress {
    /// Runs `body`, which reads documents and throws ``ScanStopped`` if a signal stops it.
    /// - Throws: ``ReadingStopped`` in place of ``ScanStopped``; the errors of `body`.
    package func stopping<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch is ScanStopped {
            finish()
            throw ReadingStopped()
        }
    }
}

/// The error that a signal stopped a command that only reads.
package struct ReadingStopped: Error, CustomStringConvertible {
    /// The message: what the operator lost.
    package let description = "stopped by a signal; nothing was written, so the next run starts over"
}

/// The schema that is live now, with which a check compares the new one.
package struct Baseline {
    package let schema: ServerSchema
    /// The source of the schema, as the operator named it.
    package let path: String
    /// The changes from this schema to the new one.
    package var change: DiffReport

    package init(schema: ServerSchema, path: String, change: DiffReport) {
        self.schema = schema
        self.path = path
        self.change = change
    }

    /// Returns a copy with the schema for another database; the changes still name the schema's own database.
    package func moved(from own: String, to database: String) -> Baseline {
        Baseline(schema: schema.moved(from: own, to: database), path: path, change: change)
    }

    /// Returns the schema changes; the verdict of a change that adds a partner collection depends on the partner's
    /// state.
    /// - Parameter place: returns the collection in the deployment for a collection that the schemas name.
    package func changeWithPartners(
        in stateDatabase: String, on pool: ClientPool, place: (Namespace) -> Namespace
    ) async throws -> DiffReport {
        var change = change
        change.serve(by: try await change.partners(in: stateDatabase, on: pool, place: place))
        return change
    }

    /// Counts the links to each collection whose documents become embedded objects in the new schema.
    ///
    /// Only the links that the live schema defines are counted. The result is empty if no linked document becomes an
    /// embedded object.
    /// - Parameter place: returns the collection in the deployment for a collection that the schemas name.
    package func backlinks(
        on pool: ClientPool, place: @escaping @Sendable (Namespace) -> Namespace
    ) async throws -> [Backlinks] {
        let censuses = change.changes.embeddedTargets.map { target in
            (place(target), BacklinkCensus(of: target, from: schema.links(to: target), place: place))
        }
        guard !censuses.isEmpty else { return [] }
        return try await onOwnedThread(name: "backlinks") { () throws in
            let client = try pool.client()
            return try censuses.map { target, census in try census.count(in: client.collection(target)) }
        }
    }
}

/// The rules by which a check decides which documents fail, and the options for counting them.
package struct CheckRules {
    /// The assumptions about settings of the app that its export does not contain.
    package var assumptions = CheckOptions()
    /// The options for counting: whether findings of the level `info` are counted, and whether the report shows values
    /// of documents.
    package var tally = Tally.Options()
    /// Whether linked documents are looked up, to find links to documents that do not exist or do not sync.
    package var followsLinks = false
    /// The operator's exceptions, including those that have expired; `nil` without a file.
    package var exceptions: ExceptionList?

    package func compile(_ collection: CollectionSchema, of app: ServerSchema) -> CompiledSchema {
        var collection = collection
        if FaultInjection.mistake(in: "required", of: "check") != nil { collection.root.required = [] }
        return CompiledSchema(collection, of: app, options: assumptions)
    }
}
