internal import BSON
package import Checking
package import Concurrency
internal import Files
package import Mongo
package import Scanning
package import ServerSchema

/// One run of `ledger show`, which finds the ledgers of unsynced documents and counts their entries.
///
/// With a schema, it also checks the documents that the entries name.
package struct UnsyncedRun: Sendable {
    package var ledger = LedgerLocation.standard
    /// The apps whose entries in the ledgers of unsynced documents are counted.
    ///
    /// With ``LedgerApps/fullest``, the entries of all apps are counted, separately for each app.
    let apps: LedgerApps
    let limit: Int
    let stop: StopSignal
    package var schema: ServerSchema?
    /// The source of the schema, as the operator named it.
    package var schemaPath: String?
    /// Whether the operator asked for one collection only.
    package var isNarrowed = false
    package var keepsValues = false

    /// Creates a run that reads the standard ledgers and checks no documents.
    /// - Parameter limit: the number of unsynced documents at which sync stops.
    package init(apps: LedgerApps, limit: Int, stop: StopSignal) {
        (self.apps, self.limit, self.stop) = (apps, limit, stop)
    }

    /// Reads the ledgers of unsynced documents and returns the report on them.
    /// - Throws: ``MongoError``; ``LedgerUnreadable`` for a ledger that the user is not allowed to read; ``UsageError``
    ///   if a named ledger does not exist; ``ReadingStopped``.
    package func run(on pool: ClientPool) async throws -> UnsyncedReport {
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
            throw ReadingStopped()
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
