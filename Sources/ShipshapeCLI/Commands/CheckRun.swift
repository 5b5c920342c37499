internal import BSON
internal import Backfill
internal import Checking
internal import Mongo
internal import Reporting
internal import Scanning
internal import ServerSchema
internal import SystemPackage

/// One run of `check`: reads each collection of the schema and puts the report together.
struct CheckRun {
    let schema: ServerSchema
    let limit: Int
    let threads: Int
    let showsProgress: Bool
    let stop: StopSignal
    var includesInfo = false

    private func options(_ ledger: LedgerIndex?, _ progress: ProgressLine) -> ScanOptions {
        var options = ScanOptions()
        options.threads = threads
        options.tally.includesInfo = includesInfo
        options.ledger = ledger
        options.isStopped = { [stop] in stop.isRaised }
        options.progress = { progress.add($0) }
        return options
    }

    private var schemaNotes: [String] { schema.notes.map(\.description) }

    /// Checks a live deployment.
    func check(live pool: ClientPool, ledger: LedgerLocation, appID: String?) async throws -> CheckReport {
        let started = ContinuousClock.now
        let index = try await ledgerIndex(ledger, appID: appID, on: pool)
        let namespaces = schema.collections.map(\.namespace)
        let targets = try await onOwnedThread(name: "look-up") { () throws in
            let client = try pool.client()
            return try namespaces.map { try LiveTarget.find($0, on: client) }
        }
        guard targets.contains(where: \.exists) else {
            throw InputError(
                "no collection of the schema exists in the deployment, not even "
                    + "\(namespaces.map(\.description).min() ?? ""): check the names of the database and the collection"
            )
        }
        let progress = ProgressLine(
            "check", total: targets.reduce(0) { $0 + ($1.estimatedCount ?? 0) }, isShown: showsProgress)
        defer { progress.finish() }
        var notes = schemaNotes
        var collections: [CheckReport.Collection] = []
        for (collection, target) in zip(schema.collections, targets) {
            let compiled = CompiledSchema(collection)
            guard target.exists else {
                notes.append("\(collection.namespace) does not exist: there was nothing to check")
                collections.append(CheckReport.Collection(Tally(compiled)))
                continue
            }
            if let kind = target.derived {
                notes.append(
                    "\(collection.namespace) is a \(kind): should its cursor be lost, the check does not go on")
            }
            var options = options(index, progress)
            options.isView = target.derived != nil
            let scan = CollectionScan(compiled, on: pool, options: options)
            let tally = try await stopping(progress) { try await scan.run() }
            try await checkIdentity(of: collection.namespace, target, on: pool)
            collections.append(CheckReport.Collection(tally, estimatedCount: target.estimatedCount))
        }
        return CheckReport(
            source: pool.redactedURI, collections: collections, ledgerCount: index?.count, limit: limit, notes: notes,
            duration: started.duration(to: .now))
    }

    /// Refuses what was read of a collection that was dropped, renamed or replaced meanwhile: its cursors just end.
    private func checkIdentity(of namespace: Namespace, _ target: LiveTarget, on pool: ClientPool) async throws {
        let now = try await onOwnedThread(name: "look-up") { () throws in
            try LiveTarget.find(namespace, on: try pool.client())
        }
        guard now.uuid == target.uuid, now.exists else { throw ReplacedError(namespace: namespace) }
    }

    /// Checks a mongodump folder or a `.bson` file.
    func check(
        dump path: String, connection: ClientPool?, ledger: LedgerLocation, _ appID: String?
    ) async throws -> CheckReport {
        let started = ContinuousClock.now
        let files = try files(of: DumpFolder(path))
        var index: LedgerIndex?
        if let connection { index = try await ledgerIndex(ledger, appID: appID, on: connection) }
        let progress = ProgressLine("check", total: nil, isShown: showsProgress)
        defer { progress.finish() }
        var notes = schemaNotes
        if index == nil {
            notes.append("no ledger was read: give --uri to count the documents that are unsynced already")
        }
        var collections: [CheckReport.Collection] = []
        for (collection, file) in zip(schema.collections, files) {
            let compiled = CompiledSchema(collection)
            guard let file else {
                notes.append("\(path) holds no documents of \(collection.namespace)")
                collections.append(CheckReport.Collection(Tally(compiled)))
                continue
            }
            let scan = DumpScan(compiled, file: file.string, options: options(index, progress))
            let tally = try await stopping(progress) {
                try await onOwnedThread(name: "dump") { () throws in try scan.run() }
            }
            collections.append(CheckReport.Collection(tally))
        }
        return CheckReport(
            source: path, collections: collections, ledgerCount: index?.count, limit: limit, notes: notes,
            duration: started.duration(to: .now))
    }

    /// The file of each collection; one file is for one collection.
    private func files(of folder: DumpFolder) throws -> [FilePath?] {
        switch folder.kind {
        case .missing: throw InputError("\(folder.path): there is no such file or folder (check the path)")
        case .file where schema.collections.count != 1:
            throw InputError(
                "\(folder.path) is one file, and the schema covers \(schema.collections.count) collections: "
                    + "name the file's with --collection")
        case .file, .folder: break
        }
        let files = schema.collections.map { folder.file(of: $0.namespace) }
        guard files.contains(where: { $0 != nil }) else {
            if let compressed = schema.collections.lazy.compactMap({ folder.compressedFile(of: $0.namespace) }).first {
                throw InputError("\(compressed) is compressed, which is not read yet: extract it with `gunzip`")
            }
            throw InputError(
                "\(folder.path) holds no .bson file of any collection of the schema, such as "
                    + (schema.collections.first.map { "\($0.namespace.database)/\($0.namespace.collection).bson" } ?? "")
            )
        }
        return files
    }

    private func ledgerIndex(
        _ location: LedgerLocation, appID: String?, on pool: ClientPool
    ) async throws -> LedgerIndex? {
        guard let namespace = location.namespace else { return nil }
        do {
            return try await onOwnedThread(name: "ledger") { () throws in
                try LedgerReader.open(namespace, appID: appID, on: try pool.client())?.index()
            }
        } catch let error as MongoError where error.isAuthorization {
            throw BackfillError.ledgerUnreadable(namespace)
        }
    }

    /// A check that was asked to stop has no report.
    private func stopping(_ progress: ProgressLine, _ body: () async throws -> Tally) async throws -> Tally {
        do {
            return try await body()
        } catch is ScanStopped {
            progress.finish()
            Console.error("shipshape: stopped by a signal; a check has no state, so the next one starts over")
            throw ExitStatus.stopped
        }
    }
}

/// A collection is not the one that a check began with.
struct ReplacedError: Error, CustomStringConvertible {
    let namespace: Namespace

    var description: String {
        "\(namespace) was dropped, renamed or replaced while it was read: what was read says nothing, check again"
    }
}

/// A collection of the schema as the deployment knows it.
private struct LiveTarget: Sendable {
    var exists: Bool
    /// What it is where it has no `_id` index of its own: a view, or a time series.
    var derived: CollectionInfo.Kind?
    /// What tells it from another collection of its name; a view has none.
    var uuid: BSONValue?
    var estimatedCount: Int?

    static func find(_ namespace: Namespace, on client: borrowing Client) throws(MongoError) -> LiveTarget {
        guard let info = try client.collectionInfo(namespace) else {
            return LiveTarget(exists: false)
        }
        guard info.kind == .collection else { return LiveTarget(exists: true, derived: info.kind, uuid: info.uuid) }
        return LiveTarget(
            exists: true, uuid: info.uuid, estimatedCount: try client.collection(namespace).estimatedCount())
    }
}
