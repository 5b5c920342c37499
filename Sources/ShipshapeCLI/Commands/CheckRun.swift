internal import BSON
internal import Checking
internal import Concurrency
internal import JobState
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

/// One run of `check`: reads each collection of the schema and puts the report together.
struct CheckRun {
    private(set) var schema: ServerSchema
    /// The schema that is live now, to compare with.
    var active: ServerSchema?
    /// The changes from the active schema to the new one.
    var change: DiffReport?
    /// The source of the active schema, as the operator named it.
    var activePath: String?
    let limit: Int
    /// The place of the ledger of unsynced documents.
    var location = LedgerLocation.standard
    /// The apps whose entries in the ledger count.
    var apps = LedgerApps.fullest
    let scan: ScanFlags
    private(set) var map: NamespaceMap
    let showsProgress: Bool
    let stop: StopSignal
    var includesInfo = false
    /// The database that holds the state of jobs.
    var stateDatabase = "shipshape"
    /// The assumptions about the app.
    var assumptions = CheckOptions()
    /// Whether the documents that links lead to are looked up.
    var followsLinks = false
    /// Whether the report shows values of documents.
    var keepsValues = false
    /// The operator's exceptions, including those that have expired; `nil` without a file.
    var exceptions: ExceptionList?
    /// The file that every failing document is written to, and the format of its lines.
    var failures: (file: FailuresFile, lines: FailureLines)?
    /// Notes on the flags, for the reader of the report.
    var notes: [String] = []
    /// The `_id`s at which --part cuts each collection, by the collection that is read.
    var cuts: [Namespace: [BSONValue]] = [:]
    /// Whether the server counts the documents that each filter finds.
    var proves = false

    /// Returns a schema in the form that documents are checked against.
    func compile(_ collection: CollectionSchema) -> CompiledSchema { compile(collection, of: schema) }

    private func compile(_ collection: CollectionSchema, of app: ServerSchema) -> CompiledSchema {
        CompiledSchema(collection, of: app, options: assumptions)
    }

    /// Returns the same check for another database, which has the same collections as the schema's own.
    func moved(from own: String, to database: String) throws -> CheckRun {
        var run = self
        run.schema = schema.moved(from: own, to: database)
        run.active = active?.moved(from: own, to: database)
        run.exceptions = exceptions?.moved(from: own, to: database)
        // The changes still have the schema's own names, so the map leads from these to the other database.
        run.map = try NamespaceMap(
            [NamespaceMapping(database: own, in: database)], for: schema.collections.map(\.namespace))
        return run
    }

    /// Returns the active schema of a collection, as far as it is known.
    func active(for namespace: Namespace) -> ActiveSchema {
        guard let active else { return .notAsked }
        return active[namespace].map { .covered(compile($0, of: active)) } ?? .notCovered
    }

    /// Returns the schemas of the collections that a collection's links lead to; `nil` if links are not followed.
    private func linkTargets(of namespace: Namespace) -> [Namespace: CompiledSchema]? {
        guard followsLinks else { return nil }
        let targets = Set(schema[namespace]?.relationships.map(\.target) ?? [])
        let collections = (schema.collections + schema.neighbours).filter { targets.contains($0.namespace) }
        return Dictionary(collections.map { ($0.namespace, compile($0)) }) { first, _ in first }
    }

    /// The circumstances of sync, as the exports of the app state them.
    var circumstances: SyncCircumstances { SyncCircumstances(active: active?.sync, new: schema.sync) }

    /// The collections that lose their schema.
    var removedNamespaces: [Namespace] {
        active?.collections.map(\.namespace).filter { schema[$0] == nil } ?? []
    }

    /// The places that a check of a live deployment reads.
    var places: WorkPlaces {
        WorkPlaces(
            reading: schema.collections.map { map.target(of: $0.namespace) }, state: stateDatabase, ledger: location,
            apps: apps.ids)
    }

    /// Returns the options for the scan of a collection.
    func options(_ namespace: Namespace, _ ledger: LedgerIndex?, _ progress: ProgressLine) -> ScanOptions {
        var options = ScanOptions()
        options.judging.active = active(for: namespace)
        options.threads = scan.threads
        options.judging.tally.includesInfo = includesInfo
        options.judging.linkTargets = linkTargets(of: namespace)
        options.judging.tally.keepsValues = keepsValues
        options.judging.exceptions = exceptions?.holding ?? []
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

    /// A digest of the schemas and the rules for judging documents, which all parts of one check have in common.
    var digest: String {
        let sources = [schema, active].map { ($0?.sources ?? []).flatMap { [$0.path, $0.text] } }
        let flags =
            "\(limit) \(includesInfo) \(followsLinks) \(assumptions) \(apps) \(scan.map) \(exceptions?.holding ?? [])"
        let bounds = BSONDocument(
            cuts.sorted { $0.key < $1.key }.map { ("\($0.key)", BSONValue.array(of: $0.value)) })
        return SHA256.text(
            of: Array((sources.flatMap { $0 + [""] } + [flags]).joined(separator: "\u{0}").utf8) + bounds.bytes)
    }

    /// Notes on the flags, the schema and the exceptions, for the reader of the report.
    var schemaNotes: [String] { notes + schema.notes.map(\.description) + (exceptions?.notes ?? []) }

    /// Returns the result for a collection without documents to check.
    func emptyCollection(_ schema: CompiledSchema) -> CheckReport.Collection {
        CheckReport.Collection(Tally(schema, active: active(for: schema.namespace)))
    }

    /// Runs a part of the check; a stop signal ends the command without a report.
    func stopping<R>(_ progress: ProgressLine, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch is ScanStopped {
            progress.finish()
            if let error = failures?.file.error { throw error }
            Console.failure("stopped by a signal; a check keeps no state, so the next one starts over", .stopped)
            throw ExitStatus.stopped
        }
    }
}

extension CheckRun {
    /// Checks a dump, an export or standard input instead of a deployment.
    func check(source path: String, connection: ClientPool?) async throws -> CheckReport {
        try self.scan.requireNothingLive()
        let started = ContinuousClock.now
        var ledger = CheckedLedger()
        if let connection { ledger = try await self.ledger(on: connection) }
        let progress = ProgressLine("check", total: nil, isShown: showsProgress)
        defer { progress.finish() }
        let parts = schema.collections.map { collection in
            var options = options(collection.namespace, ledger.index, progress)
            options.judging.place = { [map] in map.target(of: $0) }
            return SourceScan.Part(compile(collection), options)
        }
        let scan = SourceScan(parts, source: path, others: removedNamespaces.map { map.target(of: $0) })
        let found = try await stopping(progress) {
            try await onOwnedThread(name: "source") { () throws in try scan.run() }
        }
        var notes = schemaNotes + ledger.notes + found.facts.notes
        if change?.changes.embeddedTargets.isEmpty == false {
            notes.append("links to objects that become embedded are not counted in a dump")
        }
        if connection == nil, location != .none {
            notes.append("no ledger was read: give --uri to count the documents that are unsynced already")
        }
        let removed = removedNamespaces.map { namespace in
            RemovedCollection(
                namespace: namespace, documentCount: found.facts.absent.contains(map.target(of: namespace)) ? 0 : nil)
        }
        let collections = found.tallies.map(collection)
        var report = CheckReport(
            source: scan.name, active: activePath, collections: collections, removed: removed, change: change,
            sync: circumstances, ledger: ledger.index?.total, limit: limit,
            exceptions: exceptions?.use(in: collections), notes: notes,
            duration: started.duration(to: .now))
        report.isLedgerUnread = connection == nil && location != .none
        return report
    }

    private func collection(_ tally: Tally) -> CheckReport.Collection {
        var collection = CheckReport.Collection(tally)
        collection.reading.namespace = renamed(tally.schema.namespace)
        return collection
    }
}

extension CheckRun {
    /// Returns the collection that a collection's documents are read from; `nil` if it has the same name.
    func renamed(_ namespace: Namespace) -> Namespace? {
        let target = map.target(of: namespace)
        return target == namespace ? nil : target
    }

    /// Sets the options of a scan that the operator asked for.
    /// - Returns: A note for the reader if an option cannot be used; otherwise `nil`.
    func choose(
        into options: inout ScanOptions, for schema: CompiledSchema, on pool: ClientPool
    ) async throws -> String? {
        options.filter = scan.filter ?? [:]
        options.part = scan.part.map { part in
            (range: IDRange.part(part, between: cuts[map.target(of: schema.namespace)] ?? []), count: part.count)
        }
        options.judging.place = { [map] in map.target(of: $0) }
        options.sampleSize = scan.sample
        options.rate = scan.rate.map { RateLimit(perSecond: $0) }
        guard scan.prefilter else { return nil }
        guard let proof = proof(schema, options.judging.active) else {
            return "\(schema.namespace): its schema allows no prefilter, so every document is read"
        }
        // A server of another version may refuse an expression that this program accepts.
        if let refusal = try await pool.refusal(of: proof, in: map.target(of: schema.namespace)) {
            return "\(schema.namespace): the server refuses the prefilter, so every document is read (\(refusal))"
        }
        options.prefilter = Prefilter(proof: proof)
        return nil
    }

    /// Returns a filter for documents that are provably valid under both schemas, so that fixed ones are still read.
    private func proof(_ schema: CompiledSchema, _ active: ActiveSchema) -> BSONDocument? {
        guard let proof = schema.proof else { return nil }
        guard case .covered(let active) = active else { return proof }
        return active.proof.map { ["$and": [.object(proof), .object($0)]] }
    }

    /// Returns the report's facts about how a collection was read.
    func reading(
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
        if scan.count || countsParts {
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

    /// Refuses a collection or a filter that cannot be used, before anything is read.
    func checkReadable(_ targets: [(namespace: Namespace, target: LiveTarget)], on pool: ClientPool) async throws {
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

    /// Returns the `_id`s at which --part cuts each collection: they are stored in the state database by the first run
    /// of a part, and chosen again once the collection has grown by half or shrunk to a half.
    func cutIntoParts(on pool: ClientPool) async throws -> [Namespace: [BSONValue]] {
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
