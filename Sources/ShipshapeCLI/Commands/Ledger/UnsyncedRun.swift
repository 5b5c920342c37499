internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Mongo
internal import Scanning
internal import ServerSchema

/// One run of the command `unsynced`, which finds the ledgers of unsynced documents and counts their entries.
///
/// With a schema, it also checks the documents that the entries name.
struct UnsyncedRun {
    /// The location of the ledger of unsynced documents.
    var ledger = LedgerLocation.standard
    /// The apps whose entries in the ledgers of unsynced documents are counted.
    ///
    /// With ``LedgerApps/fullest``, the entries of all apps are counted, separately for each app.
    let apps: LedgerApps
    let limit: Int
    let stop: StopSignal
    var schema: ServerSchema?
    /// The source of the schema, as the operator named it.
    var schemaPath: String?
    /// Whether the operator asked for one collection only.
    var isNarrowed = false
    var keepsValues = false

    /// Reads the ledgers of unsynced documents and returns the report on them.
    /// - Throws: ``MongoError``; ``LedgerUnreadable`` for a ledger that the user is not allowed to read; ``UsageError``
    ///   if a named ledger does not exist; ``ExitStatus`` when stopped.
    func run(on pool: ClientPool) async throws -> UnsyncedReport {
        let started = ContinuousClock.now
        do {
            var report = try await onOwnedThread(name: "ledger") { () throws in
                let client = try pool.client()
                let ledgers = try LedgerFinder.find(ledger, apps: self.apps.ids, on: client)
                if ledgers.isEmpty, let error = LedgerScope.missing(ledger) { throw error }
                let apps = try apps(in: ledgers, on: client)
                return UnsyncedReport(
                    source: pool.redactedURI, ledgers: ledgers, schema: schemaPath, limit: limit,
                    apps: apps.sorted { ($0.count.entries, $1.id ?? "") > ($1.count.entries, $0.id ?? "") },
                    notes: notes(ledgers, apps), duration: .zero)
            }
            report.isNarrowed = isNarrowed
            report.duration = started.duration(to: .now)
            return report
        } catch is ScanStopped {
            Console.failure("stopped by a signal; nothing was written, so the next run starts over", .stopped)
            throw ExitStatus.stopped
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(ledger.namespace ?? LedgerFinder.standard)
        }
    }

    private func apps(in ledgers: [Namespace], on client: borrowing Client) throws -> [UnsyncedReport.App] {
        var apps = try LedgerSurvey(ledgers, apps: apps.ids).apps(on: client)
        // If the ledger has no entry of the app that the schema names, all apps count, because the schema may be from
        // another environment.
        if apps.isEmpty, case .ofSchemas = self.apps { apps = try LedgerSurvey(ledgers, apps: []).apps(on: client) }
        guard let schema else { return apps }
        var options = Tally.Options()
        options.keepsValues = keepsValues
        let compiled = schema.collections.map { CompiledSchema($0, of: schema) }
        for index in apps.indices {
            let explainer = LedgerExplainer(
                apps[index].ledgers, appID: apps[index].id, schemas: compiled, options: options,
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
        notes += apps.compactMap(\.count.warning)
        notes += self.apps.missing(of: apps.map(\.id), ledgerIsThere: !ledgers.isEmpty)
        return notes
    }
}
