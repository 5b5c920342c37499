internal import BSON
internal import Checking
internal import Concurrency
internal import Jobs
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
    /// What changes from it.
    var change: DiffReport?
    /// What the active schema was read from, as the operator named it.
    var activePath: String?
    let limit: Int
    /// Where the ledger of unsynced documents is.
    var location = LedgerLocation.standard
    /// The apps whose entries of it count.
    var apps = LedgerApps.fullest
    let scan: ScanFlags
    private(set) var map: NamespaceMap
    let showsProgress: Bool
    let stop: StopSignal
    var includesInfo = false
    /// The database that holds the state of jobs.
    var stateDatabase = "shipshape"
    /// What is assumed about the app.
    var assumptions = CheckOptions()
    /// Whether the documents that links lead to are looked up.
    var followsLinks = false
    /// Whether the report shows values of documents.
    var keepsValues = false
    /// The operator's exceptions, also those that have expired; `nil` without a file.
    var exceptions: ExceptionList?
    /// Where every failing document is written to, and how.
    var failures: (file: FailuresFile, lines: FailureLines)?
    /// What the reader should know of the flags.
    var notes: [String] = []
    /// The `_id`s at which each collection is cut into the parts of --part, by the collection that is read.
    var cuts: [Namespace: [BSONValue]] = [:]
    /// Whether the server counts what each filter finds.
    var proves = false

    /// A schema in the form that documents are checked against.
    func compile(_ collection: CollectionSchema) -> CompiledSchema { compile(collection, of: schema) }

    private func compile(_ collection: CollectionSchema, of app: ServerSchema) -> CompiledSchema {
        CompiledSchema(collection, of: app, options: assumptions)
    }

    /// The same check of another database, which has the collections of the schema's own.
    func moved(from own: String, to database: String) throws -> CheckRun {
        var run = self
        run.schema = schema.moved(from: own, to: database)
        run.active = active?.moved(from: own, to: database)
        run.exceptions = exceptions?.moved(from: own, to: database)
        // What changes is told by the schema's own names.
        run.map = try NamespaceMap(
            [NamespaceMapping(database: own, in: database)], for: schema.collections.map(\.namespace))
        return run
    }

    /// What is known of a collection's active schema.
    func active(for namespace: Namespace) -> ActiveSchema {
        guard let active else { return .notAsked }
        return active[namespace].map { .covered(compile($0, of: active)) } ?? .notCovered
    }

    /// The schemas of the collections that a collection's links lead to; `nil` when they are not followed.
    private func linkTargets(of namespace: Namespace) -> [Namespace: CompiledSchema]? {
        guard followsLinks else { return nil }
        let targets = Set(schema[namespace]?.relationships.map(\.target) ?? [])
        let collections = (schema.collections + schema.neighbours).filter { targets.contains($0.namespace) }
        return Dictionary(collections.map { ($0.namespace, compile($0)) }) { first, _ in first }
    }

    /// What the exports say of sync.
    var circumstances: SyncCircumstances { SyncCircumstances(active: active?.sync, new: schema.sync) }

    /// The collections that lose their schema.
    var removedNamespaces: [Namespace] {
        active?.collections.map(\.namespace).filter { schema[$0] == nil } ?? []
    }

    /// What is read of a live deployment.
    var places: WorkPlaces {
        WorkPlaces(
            reading: schema.collections.map { map.target(of: $0.namespace) }, state: stateDatabase, ledger: location,
            apps: apps.ids)
    }

    /// What a scan of a collection is told.
    func options(_ namespace: Namespace, _ ledger: LedgerIndex?, _ progress: ProgressLine) -> ScanOptions {
        var options = ScanOptions()
        options.active = active(for: namespace)
        options.threads = scan.threads
        options.tally.includesInfo = includesInfo
        options.linkTargets = linkTargets(of: namespace)
        options.tally.keepsValues = keepsValues
        options.exceptions = exceptions?.holding ?? []
        if let (file, lines) = failures {
            options.onFailure = { file.add(lines.line($0)) }
            options.onRetraction = { namespace, id in lines.retraction(namespace, id).map(file.add) }
        }
        options.onRestart = { [failures] reason in
            progress.note("\(namespace) is read anew, by _id: \(reason)")
            if let (file, lines) = failures { file.add(lines.retraction(namespace)) }
        }
        options.ledger = ledger
        options.isStopped = { [stop, failures] in stop.isRaised || failures?.file.hasFailed == true }
        options.progress = { progress.add($0) }
        return options
    }

    /// What tells the schemas, and how documents are judged by them, apart: reports of parts are joined by it.
    var digest: String {
        let sources = [schema, active].map { ($0?.sources ?? []).flatMap { [$0.path, $0.text] } }
        let flags =
            "\(limit) \(includesInfo) \(followsLinks) \(assumptions) \(apps) \(scan.map) \(exceptions?.holding ?? [])"
        let bounds = BSONDocument(
            cuts.sorted { $0.key < $1.key }.map { ("\($0.key)", BSONValue.array(of: $0.value)) })
        return SHA256.text(
            of: Array((sources.flatMap { $0 + [""] } + [flags]).joined(separator: "\u{0}").utf8) + bounds.bytes)
    }

    /// What the reader of the report should know of the schema.
    var schemaNotes: [String] { notes + schema.notes.map(\.description) + (exceptions?.notes ?? []) }

    /// A collection that holds nothing to check.
    func emptyCollection(_ schema: CompiledSchema) -> CheckReport.Collection {
        CheckReport.Collection(Tally(schema, active: active(for: schema.namespace)))
    }

    /// A check that was asked to stop has no report.
    func stopping<R>(_ progress: ProgressLine, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch is ScanStopped {
            progress.finish()
            if let error = failures?.file.error { throw error }
            Console.failure("stopped by a signal; a check has no state, so the next one starts over", .stopped)
            throw ExitStatus.stopped
        }
    }
}
