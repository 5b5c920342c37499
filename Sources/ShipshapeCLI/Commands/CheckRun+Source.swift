internal import BSON
internal import Backfill
internal import Checking
internal import Mongo
internal import Scanning
internal import ServerSchema

extension CheckRun {
    /// Checks what is no deployment: a dump, an export, or standard input.
    func check(
        source path: String, connection: ClientPool?, ledger: LedgerLocation, _ appID: String?
    ) async throws -> CheckReport {
        try scan.requireNothingLive()
        let started = ContinuousClock.now
        var index: LedgerIndex?
        if let connection { index = try await ledgerIndex(ledger, appID: appID, on: connection) }
        let progress = ProgressLine("check", total: nil, isShown: showsProgress)
        defer { progress.finish() }
        let parts = schema.collections.map { collection in
            SourceScan.Part(compile(collection), options(collection.namespace, index, progress))
        }
        let scan = SourceScan(parts, source: path, others: removedNamespaces)
        let found = try await stopping(progress) {
            try await onOwnedThread(name: "source") { () throws in try scan.run() }
        }
        var notes = schemaNotes + found.notes
        if index == nil {
            notes.append("no ledger was read: give --uri to count the documents that are unsynced already")
        }
        let removed = removedNamespaces.map { namespace in
            RemovedCollection(namespace: namespace, documentCount: found.absent.contains(namespace) ? 0 : nil)
        }
        return CheckReport(
            source: scan.name, active: activePath, collections: found.tallies.map { CheckReport.Collection($0) },
            removed: removed, ledgerCount: index?.count, limit: limit, notes: notes,
            duration: started.duration(to: .now))
    }
}
