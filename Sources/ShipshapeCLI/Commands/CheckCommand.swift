internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Mongo
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

struct CheckCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "check", "[<schema>]",
        abstract: "Checks every document against a schema or a sync engine's rules, and shows which fail and why.",
        examples: [
            "check schemas/v2 --active schemas/v1 --uri mongodb://db1/",
            "check prisma/schema.prisma --uri mongodb://db1/shop",
            "check --join part1.json part2.json --report check.html",
        ],
        details: """
            SCHEMA is an App Services app folder, one schema.json, a folder of them, a MongoDB validator file \
            ({"$jsonSchema": …}), a schema.prisma or a folder of .prisma files, or live: the validators that the \
            collections have now. Documents are read from a live deployment or, with --source, from files: a mongodump \
            folder, a .bson file, a mongodump archive, a mongoexport file of JSON, or standard input; all may be \
            compressed with gzip. Nothing is written to the deployment, except by --part, which stores where each part \
            begins, and by --history and --failures with db:NAME. --join joins the reports that all parts of one check \
            wrote with --report FILE.json: verdict and exit code are those of an undivided check, but each part is \
            consistent as of a time of its own.

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

    static let brief = [
        "--active", "--engine", "--collection", "--source", "--fail-on", "--strict", "--history", "--failures", "--uri",
        "--output",
    ]

    @OptionGroup var subject: CheckSubjectFlags
    @OptionGroup(title: "Comparison") var comparison: ComparisonFlags
    @OptionGroup(title: "Engine") var engine: EngineFlags
    @OptionGroup var severity: SeverityFlags
    @OptionGroup(title: "Exceptions") var accepting: AcceptFlags
    @OptionGroup(title: "Evidence") var failures: FailuresFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Reading") var scan: ScanFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    static let exclusions: [Exclusion<Self>] = {
        let source = Given("--source") { $0.subject.source != nil }
        let databases = Given("--databases") { $0.subject.databases != nil }
        let part = Given("--part") { $0.scan.part != nil }
        let sample = Given("--sample") { $0.scan.reading.sample != nil }
        let filter = Given("--where") { $0.scan.reading.filter != nil }
        let count = Given("--count-groups") { $0.failures.evidence.countGroups }
        let prove = Given("--prove") { $0.failures.prove }
        let links = Given("--follow-links") { $0.severity.followLinks }
        let accept = Given("--accept") { $0.accepting.accept != nil }
        let expires = Given("--expires") { $0.accepting.expires != nil }
        let failures = Given("--failures") { !$0.failures.failures.isEmpty }
        let history = Given("--history") { $0.severity.history != nil }
        let map = Given("--map") { !$0.scan.map.isEmpty }
        let join = Given("--join") { $0.subject.join }
        let active = Given("--active") { $0.comparison.active != nil }
        let engine = Given("--engine") { $0.engine.named != nil }
        let values = Given("--show-values") { $0.privacy.showValues }
        return Exclusion<Self>.apart(
            source, each: [filter, sample, part], "a dump is read as a whole: leave one of them out")
            + Exclusion<Self>.apart(
                source, each: [count, links, prove],
                "a dump has no server that could look documents up: leave one of them out")
            + Exclusion<Self>.apart(
                part, each: [filter, sample], "--join joins only complete parts: leave one of them out")
            + Exclusion<Self>.apart(
                part, each: [accept, values], "a part knows only its own documents: leave it out, or check as a whole")
            + Exclusion<Self>.apart(
                databases, each: [source, part, map, failures, history, accept],
                "it applies to one database: check the databases one by one")
            + Exclusion<Self>.apart(
                join,
                each: [
                    source, databases, part, sample, filter, count, prove, links, accept, failures, history, map,
                    active, engine, values,
                ], "the reports were made with their own: give it to the checks of the parts")
            + [
                .apart(count, sample, "the server cannot count a random sample: leave one of them out"),
                .needs(expires, accept, "say the reason with it"),
                .needs(accept, expires, "name the last day, such as 2027-01-31, or never"),
            ]
    }()

    func validate() throws {
        try checkExclusions()
        if subject.collection.count > 1, comparison.active != nil,
            subject.named.first.map(comparison.namesActive) != true
        {
            throw ValidationError("--active goes with one --collection or none: name one, or check all of them")
        }
        if let file = failures.file, output.report.contains(file) {
            throw ValidationError("--failures and --report name the same file: \(file)")
        }
    }

    /// The name of the schema or, if the operator names none, of the engine; the metrics and the history show it.
    var checkedName: String { subject.schema?.name ?? engine.engine?.rawValue ?? "" }

    func work() async throws -> Work {
        guard !subject.join else { return joining }
        var command = self
        command.subject.named = [try checkedSchema()].compactMap(\.self)
        return Work(
            "check", command.checkedName, output: output, monitoring: monitoring,
            reads: [command.subject.schema?.name, comparison.active?.name, subject.source, Exceptions().path]
                + engine.files,
            writes: [failures.file]
        ) { [command] frame in try await command.run(in: frame) }
    }

    /// Returns the schema to check against: the one that the command line or `shipshape.yml` names; `nil` if only an
    /// engine is named.
    /// - Throws: ``UsageError`` if neither is named, or if an option needs a schema.
    private func checkedSchema() throws -> SchemaArgument? {
        // The number of schemas is checked here and not in `validate()`. There, the value of an unknown option would
        // look like a second schema, and the error about two schemas would hide the parser's error about the option.
        if let schema = subject.schema, let other = subject.named.dropFirst().first {
            throw UsageError(
                "check takes one schema, the new one: name the active one with --active, as in "
                    + "shipshape check \(schema.name.shellWord) --active \(other.name.shellWord) "
                    + "(diff and plan take OLD NEW)")
        }
        if let schema = subject.schema { return schema }
        guard let engine = engine.engine else {
            guard Settings.current.file.schema != nil else {
                throw UsageError(
                    "name a schema, or the sync engine with --engine, or write schema: PATH into "
                        + "\(ConfigurationFile.standardName) (shipshape init writes it)")
            }
            return .configured
        }
        if engine == .deviceSync { throw UsageError(EngineFlags.needsSchema) }
        let asked = [("--active", comparison.active != nil), ("--follow-links", severity.followLinks)]
        if let (option, _) = asked.first(where: \.1) { throw UsageError("\(option) needs a schema: name one") }
        return nil
    }

    private var joining: Work {
        let reports = subject.named.map(\.name)
        return Work("check", output: output, reads: reports) { _ in
            guard !reports.isEmpty else { throw UsageError("--join needs the reports of the parts: name the files") }
            let parts = try reports.map { (name: $0, report: try CheckReportReader.read($0)) }
            var report = try CheckReport(merging: parts)
            let policy = FailingLimits.added(to: parts.first?.report.part?.policy ?? FailurePolicy())
            if policy.hasLimits { report.limits = policy.uses(in: report) }
            return .result(
                CheckResult(report, policy: policy, showsFilters: failures.evidence.filters),
                Self.status(of: report, hasFailed: policy.fails(report)))
        }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let folder = try historyFolder()
        let statement = try accepting.statement()
        let found = try await CheckSubject(
            subject.schema, only: subject.namespaces, engine, connection, source: subject.source)
        let serverSchema = found.schema
        try checkProof(of: found)
        var baseline: Baseline?
        if let schema = subject.schema,
            var active = try await comparison.baseline(
                of: schema, serverSchema, collection: subject.collection.first, connection: connection)
        {
            try Exceptions().read(into: &active.change, isWritten: statement != nil)
            baseline = active
        }
        var run = CheckRun(
            schema: serverSchema, limit: limit(of: serverSchema), scan: scan.options,
            map: try NamespaceMap(scan.map, for: serverSchema.collections.map(\.namespace)),
            makeProgress: output.showsProgress ? ProgressLine.ofCheck : ProgressLine.hidden, stop: frame.stop)
        run.ledger = LedgerScope(
            location(for: serverSchema), of: LedgerPlace.apps(of: [serverSchema, baseline?.schema]))
        run.stateDatabase = StateDatabase.name
        run.notes = notes(for: serverSchema)
        run.notes += found.engine?.notes(for: serverSchema, hasSchema: found.hasSchema) ?? []
        run.hasSchema = found.hasSchema
        run.rules.assumptions = AppSettings.assumptions
        run.rules.assumptions.engine = found.engine
        run.rules.followsLinks = severity.followLinks
        run.rules.tally.includesInfo = severity.info
        run.rules.tally.keepsValues = privacy.showValues
        run.baseline = baseline
        run.proves = failures.evidence.countGroups
        run.comparesVerdicts = failures.prove
        run.rules.exceptions = try Exceptions().read(
            for: serverSchema.collections.map(run.compile), of: serverSchema, isPart: !subject.collection.isEmpty,
            isWritten: statement != nil)
        if let databases = subject.databases {
            return try await check(DatabasesCheck(run, matching: databases, of: serverSchema), in: frame)
        }
        let pool =
            subject.source == nil
            ? try await frame.pool(for: scan.part == nil ? "check" : "check --part", on: run.places) : nil
        let kept: (any HistoryStore)? = if let folder { folder } else { try await historyDatabase(pool) }
        if let pool { run.cuts = try await run.cutIntoParts(on: pool) }
        frame.begin()
        let ids = IDForm.display
        let collection = try await failureCollection(of: run, pool)
        defer { collection?.removeLines() }
        run.failures = try failures.open(ids, in: serverSchema.dialect, spool: collection?.lines)
        var report: CheckReport
        var failure: (any Error)?
        do {
            report = try await check(run, on: pool)
            applyOptions(&report, run)
            report.part = scan.part.map {
                PartOfCheck(
                    $0, digest: run.digest, policy: comparison.policy(isStrict: severity.strict, of: subject.schema))
            }
            if let (file, lines) = run.failures { try file.finish(lines.result(report)) }
        } catch {
            run.failures?.file.discard()
            throw error
        }
        if let collection {
            do { try await store(in: collection) } catch { failure = error }
        }
        return try await outcome(
            of: report, ids, kept, found, statement, after: failure)
    }

    private func checkProof(of subject: CheckSubject) throws {
        guard failures.prove, !subject.hasSchema || subject.schema.dialect != .jsonSchema else { return }
        let name = subject.hasSchema ? ComparisonFlags.name(of: subject.schema.dialect) : "a sync engine alone"
        throw UsageError("--prove needs a MongoDB validator: the server gives no verdict by \(name)")
    }

    /// Returns the folder for the counts of this run; `nil` if `--history` names none.
    ///
    /// Throws if the folder cannot be written, so that the check fails before it reads documents, and not afterwards.
    private func historyFolder() throws -> HistoryFolder? {
        guard case .folder(let name)? = severity.history else { return nil }
        return try HistoryFolder.forWriting(
            name, reading: [subject.schema?.name, comparison.active?.name, subject.source])
    }

    /// Returns the database for the counts of this run, on the deployment that is checked or, for a dump, that the
    /// connection flags name; `nil` if `--history` names none.
    private func historyDatabase(_ pool: ClientPool?) async throws -> HistoryDatabase? {
        guard let history = severity.history, case .database(let name) = history else { return nil }
        let pool = try pool ?? connection.pool()
        try await pool.requirePrivileges(for: "check", on: history.resources)
        let names = try await onOwnedThread(name: "history") { () throws in try pool.client().databaseNames() }
        if let other = names.first(where: { $0 != name && $0.lowercased() == name.lowercased() }) {
            throw UsageError("--history \(history): the deployment has \(other), which differs in case only")
        }
        return HistoryDatabase(name, on: pool)
    }

    /// The rules that decide which findings fail the check.
    ///
    /// A check with `--part`, which reads one part of a collection, has no limits for failing documents. `--join` adds
    /// up the failing documents of all parts, and applies the limits to the sums.
    private var policy: FailurePolicy {
        var policy = comparison.policy(isStrict: severity.strict, of: subject.schema)
        policy.includesAnomalies = Settings.current[Known.failOnAnomaly] && severity.history != nil
        return scan.part == nil ? FailingLimits.added(to: policy) : policy
    }

    /// Sets the dialect and the engine of a report, and whether documents that might fail count as failing.
    private func applyOptions(_ report: inout CheckReport, _ run: CheckRun) {
        report.rules.dialect = run.schema.dialect
        report.rules.engine = run.rules.assumptions.engine?.engine
        report.rules.hasSchema = run.hasSchema
        report.rules.isLive = subject.schema.map { $0.isLive || comparison.namesActive($0) } ?? false
        if comparison.policy(isStrict: severity.strict, of: subject.schema).includesPossible { report.countPossible() }
    }

    private func check(_ check: DatabasesCheck, in frame: Frame) async throws -> CommandOutcome {
        let pool = try frame.pool()
        let started = ContinuousClock.now
        let names = try await check.pattern.names(on: pool)
        try await pool.requirePrivileges(for: "check", on: try check.places(of: names))
        frame.begin()
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
            ids: IDForm.display, showsFilters: failures.evidence.filters || failures.evidence.countGroups,
            duration: started.duration(to: .now), places: places(in: check.run.schema))
        let isWrong = entries.contains { ($0.report?.wrongCount ?? 0) > 0 }
        var outcome = CommandOutcome.result(
            matrix, isWrong ? ExitStatus.bug : matrix.hasFailed ? ExitStatus.findings : nil)
        outcome.measure = { $0.take(entries.compactMap(\.report)) }
        return outcome
    }

    private func check(_ run: CheckRun, on pool: ClientPool?) async throws -> CheckReport {
        if let pool { return try await run.check(live: pool) }
        guard let source = subject.source else { preconditionFailure("without a source there is a deployment") }
        return try await run.check(source: source, connection: try ledgerPool())
    }

    /// Returns the pool for reading the ledger when a dump, which has none, is checked; `nil` unless `--uri` names a
    /// deployment, and if the setting `ledger` is `none`.
    private func ledgerPool() throws -> ClientPool? {
        connection.uri == nil || LedgerPlace.stated == LedgerLocation.none ? nil : try connection.pool()
    }

    private static func status(of report: CheckReport, hasFailed: Bool) -> ExitStatus? {
        report.wrongCount > 0 ? .bug : hasFailed ? .findings : nil
    }

    private func outcome(
        of found: CheckReport, _ ids: IDDisplay, _ store: (any HistoryStore)?, _ checked: CheckSubject,
        _ statement: ExceptionStatement?, after failure: (any Error)?
    ) async throws -> CommandOutcome {
        let policy = policy
        var (report, history) = (found, CheckHistory([]))
        if policy.hasLimits { report.limits = policy.uses(in: report) }
        report.notes += FailingLimits.notes(for: report, isPart: !subject.collection.isEmpty)
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
            showsFilters: failures.evidence.filters || failures.evidence.countGroups,
            next: next(after: report, of: checked.schema),
            places: checked.hasSchema ? places(in: checked.schema) : nil)
        var outcome = CommandOutcome.result(result, Self.status(of: report, hasFailed: result.hasFailed))
        outcome.measure = { [history, report] metrics in
            metrics.take([report])
            // Without a history, the number of anomalies is unknown. The metrics then do not state it, because 0 would
            // be wrong.
            if !history.summaries.isEmpty { metrics.add(history.anomalies) }
        }
        outcome.after = { [report, failure] in
            // An error in storing the failing documents or the history is thrown only after the result was shown.
            if let failure { throw failure }
            try accept(report, policy, statement)
        }
        return outcome
    }
}

/// The options of a check that apply only to Device Sync, or only to schemas of App Services.
extension CheckCommand {
    private func isOfDeviceSync(_ schema: ServerSchema) -> Bool {
        schema.dialect.isOfSync && (engine.engine ?? .deviceSync) == .deviceSync
    }

    /// Returns the number of unsynced documents at which sync stops; `Int.max` without Device Sync, because there is no
    /// limit.
    func limit(of schema: ServerSchema) -> Int {
        isOfDeviceSync(schema) ? Settings.current[Known.limit] : .max
    }

    /// Returns notes that name the operator's options without effect on the check of this schema.
    func notes(for schema: ServerSchema) -> [String] {
        guard !isOfDeviceSync(schema) else { return [] }
        let asked = [
            ("--info", severity.info && schema.dialect == .jsonSchema && engine.engine == nil),
            ("--follow-links", schema.dialect == .jsonSchema && severity.followLinks),
        ]
        let names = asked.filter(\.1).map(\.0)
        guard !names.isEmpty else { return [] }
        let effect = names.count == 1 ? "has no effect" : "have no effect"
        let reason =
            engine.engine.map { "the engine is \($0.name)" }
            ?? "the schema is \(ComparisonFlags.name(of: schema.dialect))"
        return ["\(names.joined(separator: ", ")) \(effect): \(reason)"]
    }

    /// Returns the location of the ledger: without the setting, only Device Sync has one, and a Prisma schema never.
    func location(for schema: ServerSchema) -> LedgerLocation {
        guard schema.dialect != .prisma else { return .none }
        return isOfDeviceSync(schema) || LedgerPlace.stated != nil ? LedgerPlace.location : .none
    }
}
