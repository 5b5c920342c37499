internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Scanning
internal import ServerSchema

/// One run of `unsynced`: finds the ledgers, counts what they hold, and looks at the documents where a schema is given.
struct UnsyncedRun {
    /// The ledger that the operator names; `nil` looks at all known places.
    var ledger: Namespace?
    /// The only app whose entries count.
    let appID: String?
    let limit: Int
    let stop: StopSignal
    var schema: ServerSchema?
    /// What the schema was read from, as the operator named it.
    var schemaPath: String?
    /// Whether the operator looks at one collection only.
    var isNarrowed = false
    var keepsValues = false

    /// Reads the ledgers.
    /// - Throws: ``MongoError``, ``LedgerUnreadable`` for a ledger that must not be read, ``ExitStatus`` when stopped.
    func run(on pool: ClientPool) async throws -> UnsyncedReport {
        let started = ContinuousClock.now
        do {
            var report = try await onOwnedThread(name: "ledger") { () throws in
                let client = try pool.client()
                let ledgers = try LedgerFinder.find(named: ledger, appID: appID, on: client)
                let apps = try ledgers.flatMap { try self.apps(in: $0, on: client) }
                return UnsyncedReport(
                    source: pool.redactedURI, ledgers: ledgers, schema: schemaPath, limit: limit,
                    apps: apps.sorted { $0.documentCount > $1.documentCount }, notes: notes(ledgers, apps),
                    duration: .zero)
            }
            report.isNarrowed = isNarrowed
            report.duration = started.duration(to: .now)
            return report
        } catch is ScanStopped {
            Console.error("shipshape: stopped by a signal; nothing was written, so the next run starts over")
            throw ExitStatus.stopped
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(ledger ?? LedgerFinder.standard)
        }
    }

    private func apps(in ledger: Namespace, on client: borrowing Client) throws -> [UnsyncedReport.App] {
        var apps = try LedgerSurvey(ledger, appID: appID).apps(on: client)
        guard let schema else { return apps }
        var options = Tally.Options()
        options.keepsValues = keepsValues
        let compiled = schema.collections.map { CompiledSchema($0, of: schema) }
        for index in apps.indices {
            let explainer = LedgerExplainer(
                ledger, appID: apps[index].id, schemas: compiled, options: options,
                isStopped: { [stop] in stop.isRaised })
            let explanations = try explainer.explain(on: client)
            for place in apps[index].collections.indices {
                guard let namespace = apps[index].collections[place].namespace else { continue }
                apps[index].collections[place].explanation =
                    schema[namespace] == nil
                    ? .notCovered : explanations[namespace] ?? UnsyncedExplanation(counts: .init(), groups: [])
            }
        }
        return apps
    }

    private func notes(_ ledgers: [Namespace], _ apps: [UnsyncedReport.App]) -> [String] {
        var notes = schema?.notes.map(\.description) ?? []
        let twice = Dictionary(grouping: apps.compactMap(\.id)) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        notes += twice.map { "app \($0) has entries in two ledgers: its headroom is less than either says" }
        if let appID, apps.isEmpty, !ledgers.isEmpty { notes.append("no entry is of the app \(appID)") }
        return notes
    }
}
