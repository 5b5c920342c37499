internal import BSON
internal import Backfill
internal import Checking
internal import Mongo
internal import Scanning
internal import ServerSchema
internal import SystemPackage

extension CheckRun {
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
            let compiled = compile(collection)
            guard let file else {
                notes.append("\(path) holds no documents of \(collection.namespace)")
                collections.append(emptyCollection(compiled))
                continue
            }
            let scan = DumpScan(compiled, file: file.string, options: options(collection.namespace, index, progress))
            let tally = try await stopping(progress) {
                try await onOwnedThread(name: "dump") { () throws in try scan.run() }
            }
            collections.append(CheckReport.Collection(tally))
        }
        let folder = DumpFolder(path)
        let removed = removedNamespaces.map { namespace in
            // One file holds one collection, and says nothing of others.
            let isKnown = folder.kind == .folder && folder.file(of: namespace) == nil
            return RemovedCollection(namespace: namespace, documentCount: isKnown ? 0 : nil)
        }
        return CheckReport(
            source: path, active: activePath, collections: collections, removed: removed, ledgerCount: index?.count,
            limit: limit, notes: notes,
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
}
