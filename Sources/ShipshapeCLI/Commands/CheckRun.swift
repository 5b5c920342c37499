internal import BSON
internal import Backfill
internal import Checking
internal import Scanning
internal import ServerSchema

/// One run of `check`: reads each collection of the schema and puts the report together.
struct CheckRun {
    let schema: ServerSchema
    /// The schema that is live now, to compare with.
    var active: ServerSchema?
    /// What the active schema was read from, as the operator named it.
    var activePath: String?
    let limit: Int
    let threads: Int
    let showsProgress: Bool
    let stop: StopSignal
    var includesInfo = false

    /// A schema in the form that documents are checked against.
    func compile(_ collection: CollectionSchema) -> CompiledSchema { CompiledSchema(collection) }

    /// What is known of a collection's active schema.
    func active(for namespace: Namespace) -> ActiveSchema {
        guard let active else { return .notAsked }
        return active[namespace].map { .covered(compile($0)) } ?? .notCovered
    }

    /// The collections that lose their schema.
    var removedNamespaces: [Namespace] {
        active?.collections.map(\.namespace).filter { schema[$0] == nil } ?? []
    }

    /// What a scan of a collection is told.
    func options(_ namespace: Namespace, _ ledger: LedgerIndex?, _ progress: ProgressLine) -> ScanOptions {
        var options = ScanOptions()
        options.active = active(for: namespace)
        options.threads = threads
        options.tally.includesInfo = includesInfo
        options.ledger = ledger
        options.isStopped = { [stop] in stop.isRaised }
        options.progress = { progress.add($0) }
        return options
    }

    /// What the reader of the report should know of the schema.
    var schemaNotes: [String] { schema.notes.map(\.description) }

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
            Console.error("shipshape: stopped by a signal; a check has no state, so the next one starts over")
            throw ExitStatus.stopped
        }
    }
}
