internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

/// `shipshape check SCHEMA`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "check", "[<schema>]",
        abstract: "Checks every document against a schema, and shows which would stop syncing and why.",
        examples: [
            "check schemas/v2 --active schemas/v1 --uri mongodb://db1/",
            "check schemas/v2 --databases 'tenant_*' --report check.html",
            "check person.json --collection app.person --source dump.archive",
        ],
        details: """
            SCHEMA is an App Services app folder, one schema.json, a folder of them, a MongoDB validator file \
            ({"$jsonSchema": …}), or live: the validators that the collections have now. Documents are read from a \
            live deployment or, with --source, from files: a mongodump folder, a .bson file, a mongodump archive, a \
            mongoexport file of JSON, or standard input; all may be compressed with gzip. Nothing is written to the \
            deployment, except by --part, which stores where each part begins, and by --history db:NAME.

            The verdict has three parts: the documents (which of them stop syncing), the limit (whether sync itself \
            stops), and the change (what it does to sync and to clients, as in diff). The result is "Safe to deploy" \
            only if all three are safe, which only a check with --active can show.

            Exit code 1 means that documents would stop syncing, or do not fit a validator. With --active, only \
            documents that fit the active schema count. A breaking change, which resets clients or refuses writes, \
            also gives exit code 1, even if every document fits. --fail-on changes this. If sync itself has stopped or \
            would stop, the exit code is always 1.
            """)

    @Argument(help: "The schema to check against: a file, a folder, or live.")
    var schema = SchemaArgument.configured

    /// Schemas after the first one, which are given by mistake.
    @Argument(help: .hidden)
    var others: [SchemaArgument] = []

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with an app folder, the only one to check.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "Read documents from a dump or an export instead: a folder, a file, or - for standard input.",
            valueName: "path"), completion: .file())
    var source: String?

    @Option(
        help: ArgumentHelp(
            "Check every database whose name matches, such as 'tenant_*'; SCHEMA must describe a single database.",
            discussion: "* matches any characters, ? one character. Each database has its own verdict.",
            valueName: "pattern"))
    var databases: String?

    @Option(help: ArgumentHelp("The count of unsynced documents at which sync stops.", valueName: "count"))
    var limit = DeployVerdict.defaultLimit

    @Flag(help: "Documents that might stop syncing fail the check, too.")
    var strict = false

    @Flag(help: "Also report mere information, such as fields that the schema does not declare; slower.")
    var info = false

    @Option(
        help: ArgumentHelp(
            "Store the counts of this run, and report what changed since the run before it.",
            discussion:
                "PLACE is a folder, or db:NAME for a database of the deployment. shipshape history shows the trend.",
            valueName: "place"), completion: .directory, transform: HistoryPlace.init(parsing:))
    var history: HistoryPlace?

    @OptionGroup var failing: FailingFlags
    @OptionGroup(title: "Comparison") var comparison: ComparisonFlags
    @OptionGroup(title: "The App") var dialect: DialectFlags
    @OptionGroup(title: "Exceptions") var exceptions: ExceptionFlags
    @OptionGroup(title: "Evidence") var evidence: EvidenceFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Reading") var scan: ScanFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        if let other = others.first {
            throw ValidationError(
                "check takes one schema, the new one: name the active one with --active, as in "
                    + "shipshape check \(schema.name.shellWord) --active \(other.name.shellWord) "
                    + "(diff and plan take OLD NEW)")
        }
        if info, scan.prefilter {
            throw ValidationError("--prefilter does not go with --info, which reports on documents that fit, too")
        }
        if dialect.followLinks, scan.prefilter {
            throw ValidationError("--prefilter does not go with --follow-links, which reads every document with a link")
        }
        guard source == nil || !dialect.followLinks else {
            throw ValidationError("--follow-links needs a live deployment: a dump has no index for linked documents")
        }
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        if evidence.prove, source != nil {
            throw ValidationError("--prove does not go with --source: it needs a server that counts documents")
        }
        if evidence.prove, scan.sample != nil {
            throw ValidationError("--prove does not go with --sample: the server cannot count a random sample")
        }
        if scan.part != nil, privacy.showValues {
            throw ValidationError("--show-values does not go with --part: merge cannot join values")
        }
        if scan.part != nil, failing.isGiven {
            throw ValidationError("--max-failing does not go with --part: give it to merge, which knows all documents")
        }
        if let failures = evidence.failures, output.report.contains(failures) {
            throw ValidationError("--failures and --report name the same file: \(failures)")
        }
        let apart = [
            ("--source", source != nil), ("--part", scan.part != nil), ("--map", !scan.map.isEmpty),
            ("--failures", evidence.failures != nil), ("--history", history != nil),
        ]
        if databases != nil, let (flag, _) = apart.first(where: \.1) {
            throw ValidationError("\(flag) does not go with --databases: it applies to one database")
        }
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
    }

    func run() async throws {
        try schema.checkNamed(for: "check")
        try output.prepare(
            reading: [schema.name, comparison.active?.name, source, exceptions.path]
                + connection.files,
            writing: [evidence.failures, monitoring.metrics])
        let monitor = RunMonitor(monitoring, of: "check", schema.name, throttles: false)
        try await monitor.following { try await run(monitor) }
    }

    private func run(_ monitor: RunMonitor) async throws {
        let folder = try historyFolder()
        let serverSchema = try await schema.read(
            namespace: collection.flatMap { Namespace($0) }, connection: connection)
        let activeSchema = try await comparison.read(
            for: serverSchema, collection: collection.flatMap { Namespace($0) }, connection: connection)
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        var run = CheckRun(
            schema: serverSchema, limit: limit(of: serverSchema), scan: scan,
            map: try NamespaceMap(scan.map, for: serverSchema.collections.map(\.namespace)),
            showsProgress: output.showsProgress, stop: stop)
        run.location = location(for: serverSchema)
        run.stateDatabase = state.stateDatabase
        run.apps = ledger.apps(of: [serverSchema, activeSchema])
        run.notes = notes(for: serverSchema)
        run.includesInfo = info
        run.assumptions = dialect.assumptions
        run.followsLinks = dialect.followLinks
        run.active = activeSchema
        run.change = try await comparison.change(
            to: schema, serverSchema, collection: collection, connection: connection)
        run.activePath = comparison.active?.name
        run.keepsValues = privacy.showValues
        run.proves = evidence.prove
        run.exceptions = try exceptions.read(
            for: serverSchema.collections.map(run.compile), of: serverSchema, isPart: collection != nil)
        if let databases {
            return try await check(DatabasesCheck(run, matching: databases, of: serverSchema), interruption, monitor)
        }
        let pool = source == nil ? try await connected(for: run) : nil
        let kept: (any HistoryStore)? = if let folder { folder } else { try await historyDatabase(pool) }
        if let pool { run.cuts = try await run.cutIntoParts(on: pool) }
        interruption.beginWork()
        monitor.begin()
        let ids = privacy.display
        run.failures = try evidence.openFailures(ids)
        var report: CheckReport
        do {
            report = try await check(run, on: pool)
            settle(&report, serverSchema)
            report.part = scan.part.map {
                PartOfCheck($0, digest: run.digest, policy: comparison.policy(isStrict: strict))
            }
            if let (file, lines) = run.failures { try file.finish(lines.result(report)) }
        } catch {
            run.failures?.file.discard()
            throw error
        }
        try await show(report, ids, kept, monitor)
    }

    /// Returns the folder for the counts of this run; `nil` if `--history` names none.
    ///
    /// Throws if the folder cannot be written, so that the check fails before the work and not after it.
    private func historyFolder() throws -> HistoryFolder? {
        guard case .folder(let name)? = history else { return nil }
        return try HistoryFolder.forWriting(name, reading: [schema.name, comparison.active?.name, source])
    }

    /// Returns the database for the counts of this run; `nil` if `--history` names none.
    ///
    /// It is on the deployment that is checked. For a dump, it is on the deployment that the connection flags name.
    private func historyDatabase(_ pool: ClientPool?) async throws -> HistoryDatabase? {
        guard let history, case .database(let name) = history else { return nil }
        let pool = try pool ?? connection.pool()
        try await pool.requirePrivileges(for: "check", on: history.resources)
        return HistoryDatabase(name, on: pool)
    }

    /// Which findings fail the check; of a part, every failing document does, because `merge` applies the limits.
    private var policy: FailurePolicy {
        let policy = comparison.policy(isStrict: strict)
        return scan.part == nil ? failing.added(to: policy) : policy
    }

    /// Sets the dialect of a report, and whether documents that might stop syncing count as failing.
    private func settle(_ report: inout CheckReport, _ schema: ServerSchema) {
        report.dialect = schema.dialect
        if comparison.policy(isStrict: strict).includesPossible { report.countPossible() }
    }

    private func check(
        _ check: DatabasesCheck, _ interruption: Interruption, _ monitor: RunMonitor
    ) async throws {
        let pool = try connection.pool()
        let started = ContinuousClock.now
        let names = try await check.pattern.names(on: pool)
        try await pool.requirePrivileges(for: "check", on: try check.places(of: names))
        interruption.beginWork()
        monitor.begin()
        var entries: [CheckMatrix.Entry] = []
        for name in names {
            let policy = policy.moved(from: check.own, to: name)
            guard var report = try await check.report(of: name, on: pool) else {
                entries.append(CheckMatrix.Entry(database: name, report: nil, policy: policy))
                continue
            }
            settle(&report, check.schema)
            if policy.hasLimits { report.limits = policy.uses(in: report) }
            entries.append(CheckMatrix.Entry(database: name, report: report, policy: policy))
        }
        let matrix = CheckMatrix(
            check.pattern.text, of: pool.redactedURI, entries,
            added: try await check.pattern.matches(on: pool).filter { !names.contains($0) },
            ids: privacy.display, showsFilters: evidence.filters || evidence.prove, duration: started.duration(to: .now)
        )
        monitor.take(matrix.report.headline) { $0.take(entries.compactMap(\.report)) }
        try output.show(matrix)
        if matrix.hasFailed { throw ExitStatus.findings }
    }

    /// Returns the pool of the deployment, after checking that it can be reached and that the user may read it.
    private func connected(for run: CheckRun) async throws -> ClientPool {
        let pool = try connection.pool()
        try await pool.requirePrivileges(for: scan.part == nil ? "check" : "check --part", on: run.places)
        return pool
    }

    private func check(_ run: CheckRun, on pool: ClientPool?) async throws -> CheckReport {
        if let pool { return try await run.check(live: pool) }
        guard let source else { preconditionFailure("without a source there is a deployment") }
        return try await run.check(source: source, connection: try ledgerPool())
    }

    /// Returns the pool of the deployment whose ledger is read for a dump, which has none.
    ///
    /// Returns `nil` without `--uri` and `--ledger`, or with `--ledger none`.
    private func ledgerPool() throws -> ClientPool? {
        let isUnasked = connection.uri == nil && ledger.ledger == nil
        return isUnasked || ledger.ledger == LedgerLocation.none ? nil : try connection.pool()
    }

    private func show(
        _ found: CheckReport, _ ids: IDDisplay, _ store: (any HistoryStore)?, _ monitor: RunMonitor
    ) async throws {
        let policy = policy
        var (report, history) = (found, CheckHistory([]))
        if policy.hasLimits { report.limits = policy.uses(in: report) }
        report.notes += failing.notes(for: report, isPart: collection != nil)
        var failure: (any Error)?
        if store != nil, report.isPartial {
            report.notes.append("this check is not kept in the history: not every document was read")
        } else if let store {
            let summary = CheckSummary(report, schema: schema.name, at: .now)
            do {
                history = try await onOwnedThread(name: "history") { () throws in try store.read() }
                report.notes += history.notes
                history.add(summary)
                try await onOwnedThread(name: "history") { () throws in try store.add(summary) }
            } catch { failure = error }
        }
        let result = CheckResult(
            report, policy: policy, history: history, ids: ids, showsFilters: evidence.filters || evidence.prove,
            next: next(after: report))
        monitor.take(result.report.headline) { $0.take([report]) }
        try output.show(result)
        // The result is shown even if the history could not be written.
        if let failure { throw failure }
        if policy.fails(report) { throw ExitStatus.findings }
    }

    /// Returns the command that plans jobs for the documents that stop syncing; `nil` if there are none.
    ///
    /// Also returns `nil` without an active schema, or if not every document was read.
    private func next(after report: CheckReport) -> String? {
        guard let active = comparison.active, !report.isPartial,
            report.verdict.stopping + report.verdict.possiblyStopping > 0
        else { return nil }
        let only = collection.map { ["--collection", $0] } ?? []
        let renames = comparison.renames.rename.flatMap { ["--rename", $0] }
        let words = ["shipshape", "plan", active.name, schema.name] + only + renames + ["--out", "jobs"]
        return words.map(\.shellWord).joined(separator: " ")
    }
}

/// The effect of a MongoDB validator as the schema: it has no limit, no ledger, no app and no links.
extension CheckCommand {
    /// Returns the number of unsynced documents at which sync stops; a validator has no such limit, because it stops
    /// nothing.
    func limit(of schema: ServerSchema) -> Int { schema.dialect == .jsonSchema ? .max : limit }

    /// Returns notes on the given flags that have no effect on the check of a validator; none for an App Services
    /// schema.
    func notes(for schema: ServerSchema) -> [String] {
        guard schema.dialect == .jsonSchema else { return [] }
        let asked = [
            ("--limit", limit != DeployVerdict.defaultLimit), ("--info", info),
            ("--mixed-collections", dialect.app.mixedCollections == .off), ("--null-types", dialect.nullTypes != nil),
            ("--include-asymmetric", dialect.includeAsymmetric), ("--follow-links", dialect.followLinks),
        ]
        let names = asked.filter(\.1).map(\.0)
        guard !names.isEmpty else { return [] }
        let effect = names.count == 1 ? "has no effect" : "have no effect"
        return ["\(names.joined(separator: ", ")) \(effect): the schema is a MongoDB validator"]
    }

    /// Returns where the ledger is; a validator has none, unless the operator names one.
    func location(for schema: ServerSchema) -> LedgerLocation {
        schema.dialect == .jsonSchema && ledger.ledger == nil ? .none : ledger.location
    }
}

/// Counts the documents that each schema change affects, as they are before the deploy.
///
/// Each collection is read once.
struct ChangeCensus {
    private let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// Returns the counts in the order of the changes; `nil` for a change without an older collection, such as an added
    /// one.
    /// - Throws: ``MongoError``.
    func weights(on client: borrowing Client) throws(MongoError) -> [ChangeWeight?] {
        var weights = [ChangeWeight?](repeating: nil, count: changes.count)
        for namespace in Set(changes.compactMap(\.oldNamespace)).sorted() {
            let indices = changes.indices.filter { changes[$0].oldNamespace == namespace }
            let paths = Array(Set(indices.map { changes[$0].oldPath }))
            let counts = try PathCensus(of: paths).counts(in: namespace, on: client)
            let byPath = Dictionary(zip(paths, counts)) { first, _ in first }
            for index in indices { weights[index] = byPath[changes[index].oldPath].map(ChangeWeight.init) }
        }
        return weights
    }
}

extension ChangeWeight {
    fileprivate init(_ count: PathCensus.Count) {
        let types = count.types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        self.init(
            documents: count.documents, holding: count.holding, lacking: count.lacking,
            types: types.map { TypeCount(type: $0.key, documents: $0.value) })
    }
}
