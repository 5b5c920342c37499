internal import BSON
internal import Checking
internal import Concurrency
internal import JobState
internal import Mongo
internal import Scanning
internal import ServerSchema

extension CheckRun {
    /// The place where a collection's documents are, when it has another name there.
    func renamed(_ namespace: Namespace) -> Namespace? {
        let target = map.target(of: namespace)
        return target == namespace ? nil : target
    }

    /// Tells a scan what the operator asked for.
    /// - Returns: What the reader should know, when something cannot be done.
    func choose(
        into options: inout ScanOptions, for schema: CompiledSchema, on pool: ClientPool
    ) async throws -> String? {
        options.filter = scan.filter ?? [:]
        options.part = scan.part.map { part in
            (range: IDRange.part(part, between: cuts[map.target(of: schema.namespace)] ?? []), count: part.count)
        }
        options.place = { [map] in map.target(of: $0) }
        options.sampleSize = scan.sample
        options.rate = scan.rate.map { RateLimit(perSecond: $0) }
        guard scan.prefilter else { return nil }
        guard let proof = proof(schema, options.active) else {
            return "\(schema.namespace) has a schema that no prefilter can prove: every document is read"
        }
        // A server of another version may refuse an expression that this program takes.
        if let refusal = try await pool.refusal(of: proof, in: map.target(of: schema.namespace)) {
            return "\(schema.namespace): the server does not take the prefilter, so every document is read (\(refusal))"
        }
        options.prefilter = Prefilter(proof: proof)
        return nil
    }

    /// What proves a document good under both schemas: what only the new one proves may be healed.
    private func proof(_ schema: CompiledSchema, _ active: ActiveSchema) -> BSONDocument? {
        guard let proof = schema.proof else { return nil }
        guard case .covered(let active) = active else { return proof }
        return active.proof.map { ["$and": [.object(proof), .object($0)]] }
    }

    /// What the report says of the way in which a collection was read.
    func reading(
        _ result: ScanResult, of namespace: Namespace, _ options: ScanOptions, _ target: LiveTarget,
        on pool: ClientPool
    ) async throws -> CheckReport.Collection.Reading {
        var reading = CheckReport.Collection.Reading()
        reading.namespace = renamed(namespace)
        reading.clusterTime = result.clusterTime
        reading.changedCount = result.changedCount
        reading.missing = result.missing
        if target.kind == .collection, target.uuid == nil {
            reading.missing.append(
                MissingGuarantee(.sameCollection, "the user lacks the privilege listCollections on its database"))
        }
        if let sample = options.sampleSize {
            reading.selection = .sample(sample)
        } else if let part = scan.part {
            reading.selection = .part(part)
        } else if let filter = scan.filter {
            reading.selection = .matching(filter)
        }
        let countsParts = options.prefilter != nil && (!options.selection.isEmpty || target.estimatedCount == nil)
        if scan.count || countsParts {
            let place = map.target(of: namespace)
            let filter = options.selection
            reading.exactCount = try await pool.withClient { client throws(MongoError) in
                let counting: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape check"]
                return try client.collection(place).countDocuments(filter, options: counting)
            }
        }
        if options.prefilter != nil, let all = reading.exactCount ?? target.estimatedCount {
            reading.passedOverCount = max(0, all - result.tally.counts.read)
        }
        return reading
    }

    /// Refuses what cannot be read, or not in the way that was asked for, before anything is.
    func checkReadable(_ targets: [(namespace: Namespace, target: LiveTarget)], on pool: ClientPool) async throws {
        if let series = targets.first(where: { $0.target.kind == .timeseries }) {
            throw InputError(
                "\(series.namespace) is a time series, whose measurements are no documents with an _id to sync or to "
                    + "repair: leave it out of the schema, or name another with --collection")
        }
        guard let filter = scan.filter, let namespace = targets.first?.namespace else { return }
        if let refusal = try await pool.refusal(of: filter, in: namespace) {
            throw UsageError("--where: the server does not take the filter: \(refusal)")
        }
    }

    /// The `_id`s at which each collection is cut into the parts of --part: as the first run of a part said, which the
    /// state database holds.
    func cutIntoParts(on pool: ClientPool) async throws -> [Namespace: [BSONValue]] {
        guard let part = scan.part else { return [:] }
        let namespaces = schema.collections.map { map.target(of: $0.namespace) }
        let targets = try await find(namespaces, on: pool)
        return try await onOwnedThread(name: "parts") { [stateDatabase] () throws in
            let client = try pool.client()
            var cuts: [Namespace: [BSONValue]] = [:]
            for (namespace, target) in zip(namespaces, targets) where target.exists {
                let store = PartStore(
                    client: StoreClient(database: stateDatabase, client: try pool.client()), checking: namespace,
                    uuid: target.uuid)
                cuts[namespace] = try store.bounds(of: part.count, for: target.estimatedCount ?? 0) {
                    try IDRange.splitting(client.collection(namespace), into: part.count).compactMap(\.upper)
                }
            }
            return cuts
        }
    }
}
