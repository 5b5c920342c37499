internal import BSON
internal import Checking
internal import Concurrency
internal import Files
package import Inferring
package import Mongo
internal import Reporting
internal import Scanning
internal import ServerSchema

extension InferRun {
    /// Infers schemas from the documents of a live deployment.
    package func infer(live pool: ClientPool) async throws -> InferReport {
        let started = ContinuousClock.now
        let found = try await collections(on: pool)
        try target.prepare(for: found.map(\.namespace))
        if let filter = reading.filter, let first = found.first,
            let refusal = try await pool.refusal(of: filter, in: first.namespace)
        {
            throw UsageError("--where: the server refuses the filter: \(refusal)")
        }
        let count = found.reduce(0) { $0 + ($1.target.estimatedCount ?? 0) }
        let progress = makeProgress(reading.sample == nil ? count * 2 : nil)
        defer { progress.finish() }
        let (known, remarks) = try await indexes(of: found, on: pool)
        var run = self
        run.indexes = known
        let (inferred, notes) = try await progress.stopping { [run] in
            reading.sample == nil
                ? try await run.readAll(found, on: pool, progress)
                : try await run.readSamples(found, on: pool, progress)
        }
        try Self.requireDocuments(inferred, of: pool.redactedURI)
        return InferReport(
            source: pool.redactedURI, options: options, collections: inferred, notes: notes + remarks,
            duration: started.duration(to: .now))
    }

    /// Returns the descriptions of the indexes, for Prisma schemas, and a note on each collection of which the user may
    /// not read them.
    private func indexes(
        of found: [Found], on pool: ClientPool
    ) async throws -> (indexes: [Namespace: [BSONDocument]], notes: [String]) {
        guard options.dialect == .prisma else { return ([:], []) }
        return try await onOwnedThread(name: "indexes") { () throws in
            let client = try pool.client()
            var (indexes, notes): ([Namespace: [BSONDocument]], [String]) = ([:], [])
            for (namespace, target) in found where target.kind == .collection {
                do {
                    indexes[namespace] = try client.indexes(of: namespace)
                } catch let error as MongoError where error.isAuthorization {
                    notes.append("the model of \(namespace) has no indexes: the user may not list them")
                }
            }
            return (indexes, notes)
        }
    }

    private typealias Found = (namespace: Namespace, target: LiveTarget)

    /// Returns the collections to read, sorted by name.
    ///
    /// If the operator names a database, the result has its collections apart from views, time series and system
    /// collections. Otherwise, it has the collections that the operator names.
    private func collections(on pool: ClientPool) async throws -> [Found] {
        let (named, database) = (namespaces, database)
        let found: [Found] = try await onOwnedThread(name: "look-up") { () throws in
            let client = try pool.client()
            var wanted = named
            if let database {
                wanted = try client.listCollections(of: database)
                    .filter { $0.kind == .collection && !$0.name.hasPrefix("system.") }
                    .map { Namespace(database: database, collection: $0.name) }
            }
            return try wanted.sorted().map { ($0, try LiveTarget.find($0, on: client)) }
        }
        if found.isEmpty, let database {
            throw InputError("the database \(database) has no collection that the user can see: check its name")
        }
        if let missing = found.first(where: { !$0.target.exists }) {
            throw InputError("\(missing.namespace) does not exist in the deployment: check its name")
        }
        if let series = found.first(where: { $0.target.kind == .timeseries }) {
            throw InputError("\(series.namespace) is a time series, which cannot have a schema: name another one")
        }
        return found
    }

    private func readAll(
        _ found: [Found], on pool: ClientPool, _ progress: any ScanProgress
    ) async throws -> ([InferReport.Collection], [String]) {
        var notes: [String] = []
        var surveys: [(namespace: Namespace, survey: Survey)] = []
        for (namespace, target) in found {
            var scan = scanOptions(progress)
            scan.isView = target.kind != .collection
            let parts = try await RangeThreads(namespace, on: pool, options: scan).read({ [options] in Survey(options) }
            ) {
                try $0.add($1)
            }
            var survey = Survey(options)
            for part in parts { survey.merge(part) }
            if survey.documents == 0 {
                notes.append(Self.emptyNote(namespace))
            } else {
                surveys.append((namespace, survey))
            }
        }
        var collections: [InferReport.Collection] = []
        for inference in try inferences(surveys) {
            guard let (_, target) = found.first(where: { $0.namespace == inference.namespace }) else { continue }
            var scan = checking(inference, scanOptions(progress))
            scan.isView = target.kind != .collection
            let result = try await CollectionScan(inference.compiled, on: pool, options: scan).run()
            try await target.checkUnchanged(inference.namespace, on: pool)
            let outcome = Outcome(result.tally, of: inference)
            if outcome.checked != inference.documents || result.changedCount > 0 {
                notes.append(
                    "\(inference.namespace) changed during the run: the schema is from the first reading "
                        + "(\(inference.documents.documents)), the counts are from the second "
                        + "(\(outcome.checked.documents))")
            }
            collections.append(InferReport.Collection(inference, outcome, filter: reading.filter))
        }
        return (collections, notes)
    }

    private func readSamples(
        _ found: [Found], on pool: ClientPool, _ progress: any ScanProgress
    ) async throws -> ([InferReport.Collection], [String]) {
        var samples: [(namespace: Namespace, documents: [BSONDocument])] = []
        for (namespace, target) in found {
            var scan = scanOptions(progress)
            scan.sampleSize = reading.sample
            scan.isView = target.kind != .collection
            let parts = try await RangeThreads(namespace, on: pool, options: scan).read({
                Reservoir(capacity: .max, seed: 0)
            }) {
                $0.add($1)
                try Self.checkSize(ofSample: $0.byteCount)
            }
            samples.append((namespace, parts.flatMap(\.documents)))
        }
        let notes = samples.filter { $0.documents.isEmpty }.map { Self.emptyNote($0.namespace) }
        return (try infer(samples.filter { !$0.documents.isEmpty }), notes)
    }
}
