internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Jobs
internal import Mongo
internal import Planning
internal import Privileges
internal import Reporting
internal import ServerSchema

/// The command `shipshape plan`, which writes jobs for a schema change (`OLD NEW`) or for documents that do not fit a
/// schema (`--fix SCHEMA`).
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "plan", "(<old> <new> | --fix <schema>)",
        abstract: "Writes the jobs that make documents fit a schema: after a change, or now.",
        examples: [
            "plan schemas/v1 schemas/v2 --out jobs --uri mongodb://db1/",
            "plan schemas/v1 schemas/v2 --out jobs --default Person.email=none",
            "plan --fix schemas/v1 --out jobs --uri mongodb://db1/",
        ],
        details: """
            OLD is the active schema and NEW the one to deploy: each an App Services app folder, one schema.json, a \
            folder of them, a MongoDB validator file, a schema.prisma or a folder of .prisma files, or live. --out \
            names the folder for the job files, one per collection and named after it; without --out, the jobs go to \
            standard output. Steps that are safe only after the deploy go into a second job, in the folder \
            after-deploy. If no job can serve a change but a partner collection can, a partner job goes into the \
            folder partner. No job is run, and no document is changed.

            Values that plan chose are marked "review"; steps that you have to decide on are comments. For a change \
            that no job can serve, a comment recommends a manual remedy. With --uri, the documents are read, and the \
            plan shows how many each step and each change without a step affects, and which values cannot be \
            converted; SHIPSHAPE_URI alone has no effect here. For MongoDB validators, the collMod commands are printed.

            With --fix, the jobs repair the documents that fail SCHEMA now, whatever the reason. All documents of the \
            deployment (--uri or SHIPSHAPE_URI) are read, as by check. Each finding gets a step, or a remark why no \
            step repairs it, with a filter that finds the documents. A step that can change none of them is not \
            planned.

            The same schemas and options give the same files. Exit code 1, after writing, means that no job can serve \
            a change or a finding or, with --uri, that a step cannot change some documents; --fail-on changes this. A \
            wrong --default, --rename or other decision ends with 64, and a file that exists already, without \
            --force, with 73.
            """)

    /// The results that make the command exit with code 1.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case unplanned, review, none
    }

    @Argument(help: "The active schema: a file, a folder, or live.")
    var old: SchemaArgument?

    @Argument(help: "The schema that the documents have to fit.")
    var new: SchemaArgument?

    @Option(
        help: ArgumentHelp("The folder for the job files; it is created if needed.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Flag(help: "Replace existing job files, and remove those of an earlier plan for which there is no job any more.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "The collection that single files describe; with folders, the only one to plan for.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(
        help: ArgumentHelp("The jobs' name; default: made from the collection and a digest.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "What ends plan with exit code 1: unplanned (changes or findings that no job can serve), review (also "
                + "steps to review and likely renames) or none; default: unplanned on a terminal, else review.",
            valueName: "unplanned|review|none"))
    var failOn: FailOn?

    @OptionGroup(title: "Repairs") var repairs: FixFlags
    @OptionGroup(title: "Prisma") var database: DatabaseFlags
    @OptionGroup(title: "Renames") var renames: RenameFlags
    @OptionGroup(title: "Decisions") var decisions: DecisionFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if let fix = repairs.fix {
            if let old { throw ValidationError("--fix \(fix.name) plans for one schema: leave out \(old.name)") }
            let ofChanges = [
                ("--rename", renames.rename), ("--combine", decisions.combine), ("--split", decisions.split),
                ("--embed", decisions.embed),
            ]
            if let (flag, _) = ofChanges.first(where: { !$0.1.isEmpty }) {
                throw ValidationError("\(flag) does not go with --fix: no schema changes")
            }
        } else {
            guard let old, let new else {
                throw ValidationError(
                    "Missing expected argument '<\(self.old == nil ? "old" : "new")>': name OLD and NEW, or one schema "
                        + "with --fix")
            }
            if old.isLive, new.isLive { throw ValidationError("OLD and NEW are both live: there is nothing to plan") }
        }
        if force, out == nil { throw ValidationError("--force needs --out") }
        if let name, !PlannedJob.isName(name) {
            throw ValidationError("--name: a job's name consists of at most 60 letters, digits, '-', '_' and '.'")
        }
    }

    func run() async throws {
        try output.prepare(
            reading: [old?.name, new?.name, repairs.fix?.name, repairs.fix.flatMap { _ in repairs.exceptions.path }]
                + connection.files)
        if let fix = repairs.fix {
            try await planRepairs(of: fix)
        } else if let old, let new {
            try await planChange(from: old, to: new)
        }
    }

    private func planChange(from old: SchemaArgument, to new: SchemaArgument) async throws {
        let schemas = try await ComparedSchemas(
            old, new, collection: collection, database: database, connection: connection)
        var options = PlanOptions()
        options.defaults = decisions.defaults
        options.renames = try renames.read()
        options.steps = decisions.steps
        options.name = name
        if connection.uri != nil {
            let change = try schemas.diff(renames: options.renames, isVersioned: false)
            options.partners = try await change.partners(in: state.stateDatabase, on: try connection.pool())
        }
        let planner = Planner(from: schemas.old, to: schemas.new, options: options)
        var plan = try planned(by: planner) { try planner.plan(only: schemas.only) }
        if connection.uri == nil {
            plan.completeWithoutData()
        } else {
            plan = try await survey(at: plan, planner, schemas)
        }
        try finish(
            plan, planner, NamedSchema(argument: old, schema: schemas.old),
            NamedSchema(argument: new, schema: schemas.new), only: schemas.only)
    }

    /// Returns a plan after checking its jobs, so that a defect is reported before the documents are surveyed.
    /// - Throws: ``PlanDefect`` for a job that does not fit the schemas; errors of `plan`.
    func planned(by planner: Planner, _ plan: () throws -> SchemaPlan) throws -> SchemaPlan {
        do {
            let plan = try plan()
            for job in plan.jobs { try planner.check(job) }
            return plan
        } catch let error as JobError {
            throw PlanDefect(description: "a step was planned that does not fit the schemas: \(error)")
        }
    }

    /// Writes the plan's files and shows the plan.
    /// - Parameter only: the only collection of the plan; `nil` for all.
    /// - Throws: ``ExitStatus/findings`` if the plan contains a result for which `--fail-on` demands exit code 1.
    func finish(
        _ planned: SchemaPlan, _ planner: Planner, _ old: NamedSchema, _ new: NamedSchema, only: Namespace?
    ) throws {
        var plan = planned
        plan.notes += [database.note(on: new.schema)].compactMap(\.self)
        if repairs.fix == nil, plan.collections.isEmpty, plan.remarks.isEmpty {
            let fix = NextCommand(
                "plan --fix", [new.argument.name], only.map { [(name: "--collection", value: "\($0)")] } ?? [])
            plan.notes.append("for documents that fail the schema already: \(fix)")
        }
        let names = old.argument.name == new.argument.name ? [new.argument.name] : [old, new].map(\.argument.name)
        for name in names where out == nil && GitRevision(name) != nil {
            plan.notes.append(
                "the jobs do not name \(name), because it is not a file"
                    + (name == old.argument.name ? ", so no run knows whether they make documents unsyncable" : "")
                    + ": --out copies it next to them")
        }
        let files = PlanFiles(plan, folder: out, old: old, new: new)
        plan.notes += files.copies.map { "\($0.name) is copied to \($0.place): a job names its schemas by path" }
        let texts = try files.texts(of: planner, ids: privacy.display, showsValues: privacy.showValues)
        if out != nil {
            let all = Set((old.schema.collections + new.schema.collections).map(\.namespace))
            let removed = try files.write(texts, replacing: force, for: only.map { all.intersection([$0]) } ?? all)
            for path in removed where !output.quiet {
                Console.error("removed \(path): it is from an earlier plan, and this one has no such job")
            }
        }
        try show(plan, files, texts)
        if repairs.fix == nil, !output.quiet, output.output == .text {
            connection.noteUnaskedDeployment(for: "plan", to: "see how many documents each step affects")
        }
        let isOpen = plan.unplanned > 0 || plan.stuck > 0
        let failOn = failOn ?? (Console.isOutputTerminal ? .unplanned : .review)
        if failOn != .none, isOpen || failOn == .review && plan.reviews + plan.hints.count > 0 {
            throw ExitStatus.findings
        }
    }

    private func survey(
        at plan: SchemaPlan, _ planner: Planner, _ schemas: ComparedSchemas
    ) async throws -> SchemaPlan {
        let pool = try connection.pool()
        let namespaces = schemas.only.map { [$0] } ?? schemas.old.collections.map(\.namespace)
        try await pool.requirePrivileges(for: "plan", on: WorkPlaces(reading: namespaces))
        var surveyed = try await onOwnedThread(name: "plan") { () throws in
            try PlanSurvey(planner).adding(to: plan, from: try pool.client())
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

    /// Shows the plan.
    ///
    /// Without a folder, the jobs go to standard output, and the report on the plan goes to standard error.
    private func show(_ plan: SchemaPlan, _ files: PlanFiles, _ texts: [String]) throws {
        let (jobs, partners) = (files.files, files.partners)
        let place = database.database.map { [(name: "--database", value: $0)] } ?? []
        let command: PlanResult.Command = { name, file, flags in
            "\(NextCommand(name, [file], flags + (name == "check" ? place : [])))"
        }
        let result = PlanResult(
            plan, files: jobs, partners: partners, texts: texts, isWritten: out != nil, ids: privacy.display,
            command: command)
        guard out == nil, !(jobs.isEmpty && partners.isEmpty), output.output == .text else {
            return try output.show(result)
        }
        // The user may save the jobs to a file, so they are not wrapped to the terminal's width.
        try output.show(result.text(TextLayout()), reporting: result)
        if !output.quiet { Console.error(TextReport(result.report).text) }
    }
}
