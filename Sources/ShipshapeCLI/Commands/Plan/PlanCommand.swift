internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Jobs
internal import Mongo
internal import Planning
internal import Privileges
internal import Reporting
internal import ServerSchema

/// The command `shipshape plan`, which writes jobs for a schema change (`OLD NEW`) or for documents that do not fit a
/// schema (`SCHEMA`).
struct PlanCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "plan", "(<schema> | <old> <new> | --engine <engine>)",
        abstract: "Writes the jobs that make documents fit a schema: now, or after a change.",
        examples: [
            "plan schemas/v1 --out jobs --uri mongodb://db1/",
            "plan schemas/v1 schemas/v2 --out jobs --uri mongodb://db1/",
            "plan --engine powersync --out jobs --uri mongodb://db1/app",
        ],
        details: """
            With one SCHEMA, the jobs repair the documents that fail it now, whatever the reason. All documents of the \
            deployment are read, as by check. Each finding gets a step, or a remark why no step repairs it, with a \
            filter that finds the documents. A step that can change none of them is not planned. With --engine, the \
            jobs also repair what halts that sync engine, which comes first, and what it drops or loses; then no \
            schema is needed.

            With two, OLD is the active schema and NEW the one to deploy: each an App Services app folder, one \
            schema.json, a folder of them, a MongoDB validator file, a schema.prisma or a folder of .prisma files, or \
            live. Steps that are safe only after the deploy go into a second job, in the folder after-deploy. If no \
            job can serve a change but a partner collection can, a partner job goes into the folder partner. If a \
            deployment is configured, the documents are read, and the plan shows how many each step and each change \
            without a step affects, and which values cannot be converted. For MongoDB validators, the collMod \
            commands are printed.

            The jobs name copies of the schemas in the folder schemas below --out, so a later change of a schema does \
            not affect them.

            --out names the folder for the job files, one per collection and named after it; without --out, the jobs \
            go to standard output. No job is run, and no document is changed. Values that plan chose are marked \
            "review"; steps that you have to decide on are comments. For a change that no job can serve, a comment \
            recommends a manual remedy. The same schemas and options give the same files.

            Exit code 1, after writing, means that no job can serve a change or a finding, or that a step cannot \
            change some documents. A wrong --default or other decision ends with 64, and a file that exists already, \
            without --force, with 73.
            """)

    @Argument(help: "The schema that documents have to fit; or the active schema, then the one to deploy.")
    var schemas: [SchemaArgument] = []

    @Option(
        help: ArgumentHelp("The folder for the job files; it is created if needed.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Flag(help: "Replace existing job files, and remove those of an earlier plan for which there is no job any more.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "The collection that single files describe; with folders or --engine, a collection to plan for "
                + "(repeatable with one schema or none).",
            valueName: "db.collection"),
        completion: .collections)
    var collection: [String] = []

    @Flag(help: "With one schema: also repair documents that might fail.")
    var strict = false

    @OptionGroup(title: "Engine") var engine: EngineFlags
    @OptionGroup(title: "Decisions") var decisions: DecisionFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var offline: OfflineFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    static let exclusions: [Exclusion<Self>] = [
        .needs(
            Given("--force") { $0.force }, Given("--out") { $0.out != nil },
            "only files of a folder are replaced")
    ]

    func validate() throws {
        try checkExclusions()
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
        guard schemas.count <= 2 else {
            throw ValidationError("plan takes one schema, or OLD and NEW: leave out \(schemas[2].name)")
        }
        if schemas.count == 2 {
            if engine.named != nil {
                throw ValidationError("--engine repairs what it refuses now: it takes one schema or none, not two")
            }
            if collection.count > 1 {
                throw ValidationError("with OLD and NEW, name one --collection, or none for all")
            }
            if strict { throw ValidationError("--strict repairs what might fail now: it takes one schema, not two") }
            if schemas.allSatisfy(\.isLive) {
                throw ValidationError("OLD and NEW are both live: there is nothing to plan")
            }
        } else {
            let ofChanges = [
                ("--combine", decisions.combine), ("--split", decisions.split), ("--embed", decisions.embed),
            ]
            if let (option, _) = ofChanges.first(where: { !$0.1.isEmpty }) {
                throw ValidationError("\(option) is for a change: name OLD and NEW, two schemas")
            }
        }
    }

    /// Whether the plan repairs what fails one schema; otherwise, it is for a change between two.
    private var repairs: Bool { schemas.count < 2 }

    func work() throws -> Work {
        let reads = schemas.map(\.name) + (repairs ? [Exceptions().path] + engine.files : [])
        return Work("plan", output: output, reads: reads) { _ in
            if schemas.count == 2 { return try await planChange(from: schemas[0], to: schemas[1]) }
            guard !schemas.isEmpty || ![nil, .deviceSync].contains(engine.engine) else {
                throw UsageError("name one schema, OLD and NEW, or a sync engine without a schema, with --engine")
            }
            return try await planRepairs(of: schemas.first)
        }
    }

    private func planChange(from old: SchemaArgument, to new: SchemaArgument) async throws -> CommandOutcome {
        let schemas = try await ComparedSchemas(
            old, new, collection: collection.first, needsDatabase: true, connection: connection)
        if schemas.isUpgrade { return try await planRepairs(of: new) }
        var options = PlanOptions()
        options.defaults = decisions.defaults
        options.renames = Settings.current.renames
        options.steps = decisions.steps
        if offline.asks {
            let change = try schemas.diff(renames: options.renames, isVersioned: false)
            options.partners = try await change.partners(in: StateDatabase.name, on: try connection.pool())
        }
        let planner = Planner(from: schemas.old, to: schemas.new, options: options)
        var plan = try planned(by: planner) { try planner.plan(only: schemas.only) }
        if offline.asks {
            plan = try await survey(at: plan, planner, schemas)
        } else {
            plan.completeWithoutData()
        }
        return try finish(
            plan, planner, NamedSchema(argument: old, schema: schemas.old),
            NamedSchema(argument: new, schema: schemas.new), only: schemas.only)
    }

    /// Returns a plan; checks its jobs if the documents are surveyed next, so that a defect is reported before that.
    ///
    /// ``PlanFiles`` checks the jobs of every plan.
    /// - Throws: ``PlanDefect`` for a job that does not fit the schemas; errors of `plan`.
    func planned(by planner: Planner, _ plan: () throws -> SchemaPlan) throws -> SchemaPlan {
        do {
            let plan = try plan()
            if offline.asks { for job in plan.jobs { try planner.check(job) } }
            return plan
        } catch let error as JobError {
            throw PlanDefect(description: "a step was planned that does not fit the schemas: \(error)")
        }
    }

    /// Writes the plan's files, and returns the outcome that shows the plan.
    /// - Parameter only: the only collection of the plan; `nil` for all.
    func finish(
        _ planned: SchemaPlan, _ planner: Planner, _ old: NamedSchema, _ new: NamedSchema, only: Namespace?
    ) throws -> CommandOutcome {
        var plan = planned
        if plan.failing == nil, plan.collections.isEmpty, plan.remarks.isEmpty {
            let fix = NextCommand(
                "plan", [new.argument.name], only.map { [(name: "--collection", value: "\($0)")] } ?? [])
            plan.notes.append("for documents that fail the schema already: \(fix)")
        }
        let names = old.argument.name == new.argument.name ? [new.argument.name] : [old, new].map(\.argument.name)
        for name in names where out == nil && GitRevision(name) != nil {
            plan.notes.append(
                "the jobs do not name \(name), because it is not a file"
                    + (name == old.argument.name ? ", so no run knows whether they make documents unsyncable" : "")
                    + ": --out copies it next to them")
        }
        // With an engine alone, the operator may have named an ObjectBox model in place of a schema.
        let checked = schemas.contains { $0.name == new.argument.name } ? [new.argument.name] : schemas.map(\.name)
        let files = PlanFiles(plan, folder: out, old: old, new: new, checked: checked)
        let texts = try files.texts(of: planner, ids: IDForm.display, showsValues: privacy.showValues)
        if out != nil {
            let all = Set((old.schema.collections + new.schema.collections).map(\.namespace))
            let removed = try files.write(texts, replacing: force, for: only.map { all.intersection([$0]) } ?? all)
            for path in removed where !output.quiet {
                Console.error("removed \(path): it is from an earlier plan, and this one has no such job")
            }
        }
        return outcome(plan, files, texts)
    }

    private func survey(
        at plan: SchemaPlan, _ planner: Planner, _ schemas: ComparedSchemas
    ) async throws -> SchemaPlan {
        let pool = try connection.pool()
        let namespaces = schemas.only.map { [$0] } ?? schemas.old.collections.map(\.namespace)
        try await pool.requirePrivileges(for: "plan", on: WorkPlaces(reading: namespaces))
        var surveyed = try await ProgressLine.during("plan: documents to change", isShown: output.showsProgress) {
            () throws in
            try PlanSurvey(planner, showsValues: privacy.showValues).adding(to: plan, from: try pool.client())
        }
        // The survey counts the documents that each planned step affects. For a change without a step, a check with the
        // new schema counts the failing documents instead.
        var open = schemas.new
        let unplanned = surveyed.unplannedCollections
        open.collections.removeAll { !unplanned.contains($0.namespace) }
        if !open.collections.isEmpty {
            surveyed.addFindings(of: try await check(open, on: pool, hasExceptions: false))
        }
        return surveyed
    }

    /// Returns the outcome that shows the plan: without a folder, the jobs go to standard output, and the report on the
    /// plan goes to standard error.
    private func outcome(_ plan: SchemaPlan, _ files: PlanFiles, _ texts: [String]) -> CommandOutcome {
        let (jobs, partners) = (files.files, files.partners)
        let result = PlanResult(
            plan, files: jobs, partners: partners, texts: texts, isWritten: out != nil, ids: IDForm.display,
            of: collection
        ) { "\(NextCommand($0, $1, $2))" }
        let isOpen = plan.unplanned > 0 || plan.stuck > 0
        var outcome = CommandOutcome.result(result, isOpen ? ExitStatus.findings : nil)
        let showsJobs = out == nil && !(jobs.isEmpty && partners.isEmpty) && output.output == .text
        // The user may save the jobs to a file, so they are not wrapped to the terminal's width.
        if showsJobs { outcome.text = result.text(TextLayout()) }
        outcome.after = {
            guard !output.quiet else { return }
            if showsJobs { Console.error(TextReport(result.report).text) }
            if plan.failing == nil, output.output == .text {
                offline.note("see how many documents each step affects")
            }
        }
        return outcome
    }
}
