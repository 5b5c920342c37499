internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Scanning
internal import SchemaChange
internal import ServerSchema

extension CheckRun {
    /// Checks a live deployment.
    func check(live pool: ClientPool) async throws -> CheckReport {
        let started = ContinuousClock.now
        let ledger = try await ledger(on: pool)
        let namespaces = schema.collections.map { map.target(of: $0.namespace) }
        let targets = try await find(namespaces, on: pool)
        guard targets.contains(where: \.exists) else {
            throw InputError(
                "no collection of the schema exists in the deployment, not even "
                    + "\(namespaces.map(\.description).min() ?? ""): check the names, or say with --map where the documents are"
            )
        }
        try await checkReadable(zip(namespaces, targets).filter { $1.exists }, on: pool)
        let progress = ProgressLine(
            "check", total: targets.reduce(0) { $0 + ($1.estimatedCount ?? 0) }, isShown: showsProgress)
        defer { progress.finish() }
        var notes = schemaNotes + ledger.notes
        let change = try await changeWithPartners(on: pool)
        var absent: [Namespace] = []
        var jobs: [JobTrace] = []
        var collections: [CheckReport.Collection] = []
        for ((collection, namespace), target) in zip(zip(schema.collections, namespaces), targets) {
            let compiled = compile(collection)
            guard target.exists else {
                absent.append(namespace)
                collections.append(emptyCollection(compiled))
                continue
            }
            var options = options(collection.namespace, ledger.index, progress)
            options.isView = target.kind != .collection
            if let note = try await choose(into: &options, for: compiled, on: pool) { notes.append(note) }
            let failing = FailingAlready()
            if active != nil { options.onAlreadyFailing = { failing.add($0) } }
            let scan = CollectionScan(compiled, of: namespace, on: pool, options: options)
            var result = try await stopping(progress) { try await scan.run() }
            try await target.checkUnchanged(namespace, on: pool)
            if let trace = try await trace(&result.tally, failing, on: pool) { jobs.append(trace) }
            var part = CheckReport.Collection(result.tally, estimatedCount: target.estimatedCount)
            part.reading = try await reading(result, of: collection.namespace, options, target, on: pool)
            if proves { try await prove(&part, of: options.selection, on: pool) }
            part.partner =
                change?.changes.lazy.compactMap(\.partner).first { $0.source == collection.namespace }?.target
            collections.append(part)
        }
        let removed = zip(removedNamespaces, try await find(removedNamespaces.map { map.target(of: $0) }, on: pool)).map
        { namespace, target in
            RemovedCollection(namespace: namespace, documentCount: target.exists ? target.estimatedCount : 0)
        }
        var report = CheckReport(
            source: pool.redactedURI, active: activePath, collections: collections, removed: removed, absent: absent,
            change: change, sync: circumstances, ledger: ledger.index?.total, limit: limit,
            exceptions: exceptions?.use(in: collections), notes: notes,
            duration: started.duration(to: .now))
        report.jobs = jobs
        report.notes += (change?.notes ?? []).dropFirst(self.change?.notes.count ?? 0)
        // What concerns no single document is looked at once.
        if scan.part.map({ $0.number == 1 }) ?? true { report.backlinks = try await backlinks(on: pool) }
        return report
    }

    /// What changes, with the partners that serve it.
    private func changeWithPartners(on pool: ClientPool) async throws -> DiffReport? {
        guard var change else { return nil }
        change.serve(by: try await change.partners(in: stateDatabase, on: pool) { [map] in map.target(of: $0) })
        return change
    }

    /// The links to objects that become embedded ones, from every place of the app that is live.
    private func backlinks(on pool: ClientPool) async throws -> [Backlinks] {
        guard let active, let targets = change?.changes.embeddedTargets, !targets.isEmpty else { return [] }
        let censuses = targets.map { target in
            (
                map.target(of: target),
                BacklinkCensus(of: target, from: active.links(to: target)) { [map] in map.target(of: $0) }
            )
        }
        return try await onOwnedThread(name: "backlinks") { () throws in
            let client = try pool.client()
            return try censuses.map { target, census in try census.count(in: client.collection(target)) }
        }
    }

    func find(_ namespaces: [Namespace], on pool: ClientPool) async throws -> [LiveTarget] {
        try await onOwnedThread(name: "look-up") { () throws in
            let client = try pool.client()
            return try namespaces.map { try LiveTarget.find($0, on: client) }
        }
    }
}
