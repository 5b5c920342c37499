internal import BSON
internal import Checking
internal import Concurrency
internal import Files
package import Inferring
internal import Mongo
internal import Scanning

extension InferRun {
    /// Infers schemas from a dump or an export.
    ///
    /// Refuses standard input without `--sample`, because the documents would have to be read twice, and standard input
    /// can be read only once.
    package func infer(source path: String) async throws -> InferReport {
        let started = ContinuousClock.now
        let progress = makeProgress(nil)
        defer { progress.finish() }
        let scan = scanOptions(progress)
        let wanted = try await onOwnedThread(name: "source") { [self] () throws in try collections(of: path, scan) }
        try target.prepare(for: wanted)
        let reader = SourceReader(wanted, source: path, options: scan, purpose: .inference)
        if reading.sample == nil, reader.isStream {
            throw UsageError(
                "\(reader.name) can be read only once, and schema infer reads twice: save it to a file, or give "
                    + "--sample")
        }
        let (inferred, notes) = try await progress.stopping {
            try await onOwnedThread(name: "source") { [self] () throws in
                try reading.sample == nil ? readAll(reader, wanted, path, scan) : readSamples(reader, wanted)
            }
        }
        try Self.requireDocuments(inferred, of: reader.name)
        return InferReport(
            source: reader.name, options: options, collections: inferred, notes: notes,
            duration: started.duration(to: .now))
    }

    /// Returns the collections to read, sorted by name.
    ///
    /// If the operator names collections, the result has only these. If the operator names a database, the result has
    /// the collections of this database in the dump. Otherwise, the result has all collections of the dump.
    private func collections(of path: String, _ scan: ScanOptions) throws -> [Namespace] {
        guard namespaces.isEmpty else { return namespaces.sorted() }
        let reader = SourceReader([], source: path, options: scan, purpose: .inference)
        guard !reader.isStream else {
            throw UsageError("\(reader.name) does not say which collection it holds: name it with --collection DB.COLL")
        }
        let held = try reader.held()
        let wanted = held.filter { database == nil || $0.database == database }
        if let database, !held.isEmpty, wanted.isEmpty {
            throw InputError("\(reader.name) holds no documents of the database \(database)")
        }
        guard !wanted.isEmpty else {
            throw UsageError("\(reader.name) does not say which collection it holds: name it with --collection DB.COLL")
        }
        return wanted
    }

    private func readAll(
        _ reader: SourceReader, _ wanted: [Namespace], _ path: String, _ scan: ScanOptions
    ) throws -> ([InferReport.Collection], [String]) {
        var surveys = wanted.map { (namespace: $0, survey: Survey(options)) }
        let facts = try reader.read { index, document in try surveys[index].survey.add(document) }
        let empty = surveys.filter { $0.survey.documents == 0 }.map { Self.emptyNote($0.namespace) }
        let inferences = try inferences(surveys.filter { $0.survey.documents > 0 })
        guard !inferences.isEmpty else { return ([], facts.notes + empty) }
        let parts = inferences.map { SourceScan.Part($0.compiled, checking($0, scan)) }
        let findings = try SourceScan(parts, source: path).run()
        let collections = zip(inferences, findings.tallies).map { inference, tally in
            InferReport.Collection(inference, Outcome(tally, of: inference))
        }
        return (collections, facts.notes + empty)
    }

    private func readSamples(
        _ reader: SourceReader, _ wanted: [Namespace]
    ) throws -> ([InferReport.Collection], [String]) {
        let seed = UInt64.random(in: .min ... .max)
        var reservoirs = wanted.map { _ in Reservoir(capacity: reading.sample ?? 0, seed: seed) }
        let facts = try reader.read { index, document in
            reservoirs[index].add(document)
            try Self.checkSize(ofSample: reservoirs[index].byteCount)
        }
        let samples = zip(wanted, reservoirs).map { (namespace: $0, documents: $1.documents) }
        let empty = samples.filter { $0.documents.isEmpty }.map { Self.emptyNote($0.namespace) }
        return (try infer(samples.filter { !$0.documents.isEmpty }), facts.notes + empty)
    }
}
