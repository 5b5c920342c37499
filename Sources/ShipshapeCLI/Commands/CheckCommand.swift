internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

/// The command `shipshape check SCHEMA`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "check", "[<schema>]",
        abstract: "Checks every document against a schema or a sync engine's rules, and shows which fail and why.",
        examples: [
            "check schemas/v2 --active schemas/v1 --uri mongodb://db1/",
            "check prisma/schema.prisma --database shop",
            "check --engine powersync --collection app.task --columns cols.yml",
        ],
        details: """
            SCHEMA is an App Services app folder, one schema.json, a folder of them, a MongoDB validator file \
            ({"$jsonSchema": …}), a schema.prisma or a folder of .prisma files, or live: the validators that the \
            collections have now. Documents are read from a live deployment or, with --source, from files: a mongodump \
            folder, a .bson file, a mongodump archive, a mongoexport file of JSON, or standard input; all may be \
            compressed with gzip. Nothing is written to the deployment, except by --part, which stores where each part \
            begins, and by --history and --failures with db:NAME.

            --engine adds what a sync engine does with the documents: which of them halt it for all users, never \
            arrive, or lose a value. It needs no schema: name collections, a database, or an ObjectBox model. \
            shipshape explain CODE prints what a rule means.

            The verdict has up to three parts: the documents (which of them fail), the limit (whether Device Sync \
            itself stops), and the change (what it does to sync and to clients, as in diff). The result is "Safe to \
            deploy" only if all are safe, which only a check with --active can show.

            Exit code 1 means that documents do not fit a validator, make the queries of a Prisma client fail, would \
            stop syncing, or do not arrive unchanged in the engine. With --active, only documents that fit the active \
            schema count. A breaking change, which resets clients or refuses writes, also gives exit code 1, even if \
            every document fits. --fail-on changes this. If documents halt the engine for all users, or \
            sync itself has stopped or would stop, the exit code is always 1.
            """)

    @OptionGroup var subject: CheckSubjectFlags
    @OptionGroup var severity: SeverityFlags
    @OptionGroup(title: "Engine") var engine: EngineFlags
    @OptionGroup(title: "Comparison") var comparison: ComparisonFlags
    @OptionGroup(title: "Prisma") var database: DatabaseFlags
    @OptionGroup(title: "The App") var dialect: DialectFlags
    @OptionGroup(title: "Exceptions") var accepting: AcceptFlags
    @OptionGroup(title: "Evidence") var failures: FailuresFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Reading") var scan: ScanFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        try validateSubject()
        if severity.info, scan.prefilter {
            throw ValidationError("--prefilter does not go with --info, which reports on documents that fit, too")
        }
        if dialect.followLinks, scan.prefilter {
            throw ValidationError("--prefilter does not go with --follow-links, which reads every document with a link")
        }
        guard subject.source == nil || !dialect.followLinks else {
            throw ValidationError("--follow-links needs a live deployment: a dump has no index for linked documents")
        }
        if failures.evidence.prove, subject.source != nil {
            throw ValidationError("--prove does not go with --source: it needs a server that counts documents")
        }
        if failures.evidence.prove, scan.sample != nil {
            throw ValidationError("--prove does not go with --sample: the server cannot count a random sample")
        }
        if scan.part != nil, privacy.showValues {
            throw ValidationError("--show-values does not go with --part: merge cannot join values")
        }
        if scan.part != nil, severity.failing.isGiven {
            throw ValidationError("--max-failing does not go with --part: give it to merge, which knows all documents")
        }
        if severity.failOnAnomaly, scan.part != nil {
            throw ValidationError("--fail-on-anomaly does not go with --part: no history keeps the counts of a part")
        }
        if accepting.accept, scan.part != nil || subject.databases != nil {
            throw ValidationError("--accept goes with neither --part nor --databases: check one database as a whole")
        }
        if let file = failures.file, output.report.contains(file) {
            throw ValidationError("--failures and --report name the same file: \(file)")
        }
        let apart = [
            ("--source", subject.source != nil), ("--part", scan.part != nil), ("--map", !scan.map.isEmpty),
            ("--failures", !failures.failures.isEmpty), ("--history", severity.history != nil),
        ]
        if subject.databases != nil, let (flag, _) = apart.first(where: \.1) {
            throw ValidationError("\(flag) does not go with --databases: it applies to one database")
        }
    }

    private func validateSubject() throws {
        if subject.collection.count > 1, comparison.active != nil {
            throw ValidationError("--active goes with one --collection or none: name one, or check all of them")
        }
        guard subject.schema == nil, let engine = engine.engine else { return }
        if engine == .deviceSync {
            throw ValidationError(EngineFlags.needsSchema)
        }
        let asked = [("--active", comparison.active != nil), ("--follow-links", dialect.followLinks)]
        if let (flag, _) = asked.first(where: \.1) { throw ValidationError("\(flag) needs a schema") }
    }

    /// The name of the schema or, if the operator names none, of the engine; the metrics and the history show it.
    var checkedName: String { subject.schema?.name ?? engine.engine?.rawValue ?? "" }

    mutating func run() async throws {
        // The number of schemas is checked here and not in `validate()`. There, the value of an unknown flag would look
        // like a second schema, and the error about two schemas would hide the parser's error about the flag.
        if let schema = subject.schema, let other = subject.others.first {
            throw UsageError(
                "check takes one schema, the new one: name the active one with --active, as in "
                    + "shipshape check \(schema.name.shellWord) --active \(other.name.shellWord) "
                    + "(diff and plan take OLD NEW)")
        }
        // `shipshape.yml` is read only after the command line was parsed, so the schema that it names is known only
        // now.
        if subject.schema == nil, engine.engine == nil {
            guard Settings.current.file.schema != nil else {
                throw UsageError(
                    "name a schema, or the sync engine with --engine, or write schema: PATH into "
                        + "\(ConfigurationFile.standardName) (shipshape init writes it)")
            }
            subject.schema = .configured
        }
        try await check()
    }

    private func check() async throws {
        try output.prepare(
            reading: [subject.schema?.name, comparison.active?.name, subject.source, accepting.exceptions.path]
                + engine.files
                + connection.files,
            writing: [failures.file, monitoring.metrics])
        let monitor = RunMonitor(monitoring, of: "check", checkedName, throttles: false)
        try await monitor.following { try await run(monitor) }
    }

    private func run(_ monitor: RunMonitor) async throws {
        let folder = try historyFolder()
        try accepting.prepare()
        let found = try await CheckSubject(self)
        let serverSchema = found.schema
        var baseline: Baseline?
        if let schema = subject.schema,
            var active = try await comparison.baseline(
                of: schema, serverSchema, collection: subject.collection.first, database: database,
                connection: connection)
        {
            try accepting.exceptions.read(into: &active.change, isWritten: accepting.accept)
            baseline = active
        }
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        var run = CheckRun(
            schema: serverSchema, limit: limit(of: serverSchema), scan: scan,
            map: try NamespaceMap(scan.map, for: serverSchema.collections.map(\.namespace)),
            showsProgress: output.showsProgress, stop: stop)
        run.ledger = LedgerScope(
            location(for: serverSchema), of: ledger.apps(of: [serverSchema, baseline?.schema]))
        run.stateDatabase = state.stateDatabase
        run.notes = notes(for: serverSchema)
        run.notes += found.engine?.notes(for: serverSchema, hasSchema: found.hasSchema) ?? []
        run.hasSchema = found.hasSchema
        run.rules.assumptions = dialect.assumptions
        run.rules.assumptions.engine = found.engine
        run.rules.followsLinks = dialect.followLinks
        run.rules.tally.includesInfo = severity.info
        run.rules.tally.keepsValues = privacy.showValues
        run.baseline = baseline
        run.proves = failures.evidence.prove
        run.rules.exceptions = try accepting.exceptions.read(
            for: serverSchema.collections.map(run.compile), of: serverSchema, isPart: !subject.collection.isEmpty,
            isWritten: accepting.accept)
        if let databases = subject.databases {
            return try await check(DatabasesCheck(run, matching: databases, of: serverSchema), interruption, monitor)
        }
        let pool = subject.source == nil ? try await connected(for: run) : nil
        let kept: (any HistoryStore)? = if let folder { folder } else { try await historyDatabase(pool) }
        if let pool { run.cuts = try await run.cutIntoParts(on: pool) }
        interruption.beginWork()
        monitor.begin()
        let ids = privacy.display
        let collection = try await failureCollection(of: run, pool)
        defer { collection?.removeLines() }
        run.failures = try failures.open(ids, in: serverSchema.dialect, spool: collection?.lines)
        var report: CheckReport
        var failure: (any Error)?
        do {
            report = try await check(run, on: pool)
            applyOptions(&report, run)
            report.part = scan.part.map {
                PartOfCheck($0, digest: run.digest, policy: comparison.policy(isStrict: severity.strict))
            }
            if let (file, lines) = run.failures { try file.finish(lines.result(report)) }
        } catch {
            run.failures?.file.discard()
            throw error
        }
        if let collection {
            do { try await store(in: collection) } catch { failure = error }
        }
        try await show(report, ids, kept, monitor, found.hasSchema ? places(in: serverSchema) : nil, after: failure)
    }

    /// Returns the folder for the counts of this run; `nil` if `--history` names none.
    ///
    /// Throws if the folder cannot be written, so that the check fails before it reads documents, and not afterwards.
    private func historyFolder() throws -> HistoryFolder? {
        guard case .folder(let name)? = severity.history else { return nil }
        return try HistoryFolder.forWriting(
            name, reading: [subject.schema?.name, comparison.active?.name, subject.source])
    }

    /// Returns the database for the counts of this run; `nil` if `--history` names none.
    ///
    /// The database is on the deployment that is checked. For a dump, it is on the deployment that the connection flags
    /// name.
    private func historyDatabase(_ pool: ClientPool?) async throws -> HistoryDatabase? {
        guard let history = severity.history, case .database(let name) = history else { return nil }
        let pool = try pool ?? connection.pool()
        try await pool.requirePrivileges(for: "check", on: history.resources)
        return HistoryDatabase(name, on: pool)
    }

    /// The rules that decide which findings fail the check.
    ///
    /// A check with `--part`, which reads one part of a collection, has no limits for failing documents. The command
    /// `merge` adds up the failing documents of all parts, and applies the limits to the sums.
    private var policy: FailurePolicy {
        var policy = comparison.policy(isStrict: severity.strict)
        policy.includesAnomalies = severity.failOnAnomaly
        return scan.part == nil ? severity.failing.added(to: policy) : policy
    }

    /// Sets the dialect and the engine of a report, and whether documents that might fail count as failing.
    private func applyOptions(_ report: inout CheckReport, _ run: CheckRun) {
        report.rules.dialect = run.schema.dialect
        report.rules.engine = run.rules.assumptions.engine?.engine
        report.rules.hasSchema = run.hasSchema
        if comparison.policy(isStrict: severity.strict).includesPossible { report.countPossible() }
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
            applyOptions(&report, check.run)
            if policy.hasLimits { report.limits = policy.uses(in: report) }
            entries.append(CheckMatrix.Entry(database: name, report: report, policy: policy))
        }
        let matrix = CheckMatrix(
            check.pattern.text, of: pool.redactedURI, entries,
            added: try await check.pattern.matches(on: pool).filter { !names.contains($0) },
            ids: privacy.display, showsFilters: failures.evidence.filters || failures.evidence.prove,
            duration: started.duration(to: .now), places: places(in: check.run.schema))
        monitor.take(matrix.report.headline) { $0.take(entries.compactMap(\.report)) }
        try output.show(matrix)
        if matrix.hasFailed { throw ExitStatus.findings }
    }

    /// Returns the pool of the deployment, after checking that it can be reached and that the user is allowed to read
    /// it.
    private func connected(for run: CheckRun) async throws -> ClientPool {
        let pool = try connection.pool()
        try await pool.requirePrivileges(for: scan.part == nil ? "check" : "check --part", on: run.places)
        return pool
    }

    private func check(_ run: CheckRun, on pool: ClientPool?) async throws -> CheckReport {
        if let pool { return try await run.check(live: pool) }
        guard let source = subject.source else { preconditionFailure("without a source there is a deployment") }
        return try await run.check(source: source, connection: try ledgerPool())
    }

    /// Returns the pool for reading the ledger when a dump is checked; the dump itself has no ledger.
    ///
    /// Returns `nil` if neither `--uri` nor `--ledger` is given, and for `--ledger none`.
    private func ledgerPool() throws -> ClientPool? {
        let isUnasked = connection.uri == nil && ledger.ledger == nil
        return isUnasked || ledger.ledger == LedgerLocation.none ? nil : try connection.pool()
    }

    private func show(
        _ found: CheckReport, _ ids: IDDisplay, _ store: (any HistoryStore)?, _ monitor: RunMonitor,
        _ places: SchemaPlaces?, after failure: (any Error)?
    ) async throws {
        let policy = policy
        var (report, history) = (found, CheckHistory([]))
        if policy.hasLimits { report.limits = policy.uses(in: report) }
        report.notes += severity.failing.notes(for: report, isPart: !subject.collection.isEmpty)
        var failure = failure
        if store != nil, report.isPartial {
            report.notes.append("this check is not kept in the history: not every document was read")
        } else if let store {
            let summary = CheckSummary(report, schema: checkedName, at: .now)
            do {
                history = try await onOwnedThread(name: "history") { () throws in try store.read() }
                report.notes += history.notes
                history.add(summary)
                try await onOwnedThread(name: "history") { () throws in try store.add(summary) }
            } catch { failure = failure ?? error }
        }
        let result = CheckResult(
            report, policy: policy, history: history, ids: ids,
            showsFilters: failures.evidence.filters || failures.evidence.prove,
            next: next(after: report), places: places)
        monitor.take(result.report.headline) { [history] metrics in
            metrics.take([report])
            // Without a history, the number of anomalies is unknown. The metrics then do not state it, because 0 would
            // be wrong.
            if !history.summaries.isEmpty { metrics.add(history.anomalies) }
        }
        try output.show(result)
        // An error in storing the failing documents or the history is thrown only now, after the result was shown.
        if let failure { throw failure }
        try accept(report, policy)
        if result.hasFailed { throw ExitStatus.findings }
    }
}

/// The options of a check that apply only to Device Sync, or only to schemas of App Services.
extension CheckCommand {
    /// Whether Device Sync serves the documents of a schema.
    private func isOfDeviceSync(_ schema: ServerSchema) -> Bool {
        schema.dialect.isOfSync && (engine.engine ?? .deviceSync) == .deviceSync
    }

    /// Returns the number of unsynced documents at which sync stops; `Int.max` without Device Sync, because there is no
    /// limit.
    func limit(of schema: ServerSchema) -> Int { isOfDeviceSync(schema) ? severity.limit : .max }

    /// Returns notes that name the user's flags without effect on the check of this schema.
    func notes(for schema: ServerSchema) -> [String] {
        let ofPrisma = subject.schema == nil ? [] : [database.note(on: schema)].compactMap(\.self)
        guard !isOfDeviceSync(schema) else { return ofPrisma }
        let isOfApp = schema.dialect.isOfSync
        let asked = [
            ("--limit", severity.limit != DeployVerdict.defaultLimit),
            ("--info", severity.info && schema.dialect == .jsonSchema && engine.engine == nil),
            ("--ledger", ledger.ledger != nil && schema.dialect == .prisma),
            ("--mixed-collections", !isOfApp && dialect.app.mixedCollections == .off),
            ("--null-types", !isOfApp && dialect.nullTypes != nil),
            ("--include-asymmetric", !isOfApp && dialect.includeAsymmetric),
            ("--follow-links", !isOfApp && dialect.followLinks),
        ]
        let names = asked.filter(\.1).map(\.0)
        guard !names.isEmpty else { return ofPrisma }
        let effect = names.count == 1 ? "has no effect" : "have no effect"
        let reason =
            engine.engine.map { "the engine is \($0.name)" }
            ?? "the schema is \(ComparisonFlags.name(of: schema.dialect))"
        return ["\(names.joined(separator: ", ")) \(effect): \(reason)"] + ofPrisma
    }

    /// Returns the location of the ledger of unsynced documents.
    ///
    /// Without `--ledger`, only Device Sync has a ledger. A Prisma schema has none, even with `--ledger`.
    func location(for schema: ServerSchema) -> LedgerLocation {
        guard schema.dialect != .prisma else { return .none }
        return isOfDeviceSync(schema) || ledger.ledger != nil ? ledger.location : .none
    }
}
