internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Scanning
internal import SchemaChange
internal import ServerSchema

extension CheckRun {
    /// Checks what is no deployment: a dump, an export, or standard input.
    func check(source path: String, connection: ClientPool?) async throws -> CheckReport {
        try self.scan.requireNothingLive()
        let started = ContinuousClock.now
        var ledger = CheckedLedger()
        if let connection { ledger = try await self.ledger(on: connection) }
        let progress = ProgressLine("check", total: nil, isShown: showsProgress)
        defer { progress.finish() }
        let parts = schema.collections.map { collection in
            var options = options(collection.namespace, ledger.index, progress)
            options.place = { [map] in map.target(of: $0) }
            return SourceScan.Part(compile(collection), options)
        }
        let scan = SourceScan(parts, source: path, others: removedNamespaces.map { map.target(of: $0) })
        let found = try await stopping(progress) {
            try await onOwnedThread(name: "source") { () throws in try scan.run() }
        }
        var notes = schemaNotes + ledger.notes + found.facts.notes
        if change?.changes.embeddedTargets.isEmpty == false {
            notes.append("the links to objects that become embedded ones are not counted in a dump")
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
