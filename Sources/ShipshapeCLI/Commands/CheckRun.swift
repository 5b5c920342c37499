internal import Backfill
internal import Checking
internal import Scanning
internal import ServerSchema

/// One run of `check`: reads each collection of the schema and puts the report together.
struct CheckRun {
    let schema: ServerSchema
    let limit: Int
    let threads: Int
    let showsProgress: Bool
    let stop: StopSignal
    var includesInfo = false

    /// What a scan is told.
    func options(_ ledger: LedgerIndex?, _ progress: ProgressLine) -> ScanOptions {
        var options = ScanOptions()
        options.threads = threads
        options.tally.includesInfo = includesInfo
        options.ledger = ledger
        options.isStopped = { [stop] in stop.isRaised }
        options.progress = { progress.add($0) }
        return options
    }

    /// What the reader of the report should know of the schema.
    var schemaNotes: [String] { schema.notes.map(\.description) }

    /// A check that was asked to stop has no report.
    func stopping(_ progress: ProgressLine, _ body: () async throws -> Tally) async throws -> Tally {
        do {
            return try await body()
        } catch is ScanStopped {
            progress.finish()
            Console.error("shipshape: stopped by a signal; a check has no state, so the next one starts over")
            throw ExitStatus.stopped
        }
    }
}
