internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Jobs
internal import Mongo
internal import Planning
internal import Privileges
internal import Reporting
internal import ServerSchema

/// `shipshape plan OLD NEW`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Writes the jobs that make the documents of one schema fit another.",
        discussion: """
            OLD is the schema that is live, NEW the one to be deployed: each an App Services app folder, one schema.json, a \
            folder of them, a MongoDB validator file, or live. One job file per collection goes to the folder of --out, \
            named after the collection; without --out the jobs go to standard output. What is only safe after the deploy \
            goes into a second job, in the folder after-deploy below it; for what no job can do and a partner collection can, a \
            partner job goes into the folder partner. Nothing is run, and no document is written.

            Values that nobody stated are marked "review". What no job can do is a comment with the recommended manual remedy. With \
            --uri the documents are looked at: how many each step concerns, and which values will not convert; SHIPSHAPE_URI \
            alone does not count here. For MongoDB validators the collMod commands are printed.

            The same schemas and options give the same files. Ends with 1, after writing, when a change is left that no job \
            can serve or, with --uri, documents that a step cannot change; --fail-on decides otherwise. Wrong --default and \
            --rename end with 64, a file that stands in the way with 73.
            """)

    /// The results that make the command exit with code 1.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case unplanned, review, none
    }

    @Argument(help: "The schema that is live: a file, a folder, or live.")
    var old: SchemaArgument

    @Argument(help: "The schema that the documents are made to fit.")
    var new: SchemaArgument

    @Option(
        help: ArgumentHelp("The folder for the job files; it is made when there is none.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Flag(help: "Replace job files that stand there, and remove those of an earlier plan that have no job any more.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "The collection that single files are for; of folders, the only one to plan for.",
            valueName: "db.collection"))
    var collection: String?

    @Option(
        name: .customLong("default"),
        help: ArgumentHelp(
            "The value that fills a field, as JSON or extended JSON, $now for a date: Person.email=\"\" (repeatable).",
            discussion:
                "The field stands behind its type's title or its collection; of a text the quotation marks may be left out.",
            valueName: "type.field=value"))
    var defaults: [String] = []

    @Option(
        help: ArgumentHelp("The jobs' name, in place of one made from the collection and a digest.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "What ends the program with 1: unplanned, review (steps to review and likely renames, too), none; by default "
                + "unplanned on a terminal, and review off it.",
            valueName: "unplanned|review|none"))
    var failOn: FailOn?

    @OptionGroup(title: "Renames") var renames: RenameFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        for text in defaults where StatedDefault(text) == nil {
            throw ValidationError(
                "--default \(text.prefix { $0 != "=" }): write TYPE.field=VALUE, such as Person.email=\"\"")
        }
        if old.isLive, new.isLive { throw ValidationError("OLD and NEW are both live: there is nothing to plan") }
        if force, out == nil { throw ValidationError("--force goes with --out") }
        if let name, !PlannedJob.isName(name) {
            throw ValidationError("--name: a job's name consists of at most 60 letters, digits, '-', '_' and '.'")
        }
    }

    func run() async throws {
        try output.prepare(reading: [old.name, new.name] + connection.files)
        let schemas = try await ComparedSchemas(old, new, collection: collection, connection: connection)
        var options = PlanOptions()
        options.defaults = defaults.compactMap { StatedDefault($0) }
        options.renames = try renames.read()
        options.name = name
        if connection.uri != nil {
            let change = try schemas.diff(renames: options.renames, isVersioned: false)
            options.partners = try await change.partners(in: state.stateDatabase, on: try connection.pool())
        }
        let planner = Planner(from: schemas.old, to: schemas.new, options: options)
        var plan: SchemaPlan
        do {
            plan = try planner.plan(only: schemas.only)
            // A job that does not fit the schemas is reported before the documents are read.
            for job in plan.jobs { try planner.check(job) }
        } catch let error as JobError {
            throw PlanDefect(description: "a step was planned that does not fit the schemas: \(error)")
        }
        if connection.uri == nil { plan.settleWithoutData() } else { plan = try await look(at: plan, planner, schemas) }
        let named = (NamedSchema(argument: old, schema: schemas.old), NamedSchema(argument: new, schema: schemas.new))
        for name in [old.name, new.name] where out == nil && GitRevision(name) != nil {
            plan.notes.append(
                "the jobs do not name \(name), which is no file"
                    + (name == old.name ? ", so whether they harm documents that sync is not judged" : "")
                    + ": --out copies it beside them")
        }
        let files = PlanFiles(plan, folder: out, old: named.0, new: named.1)
        plan.notes += files.copies.map { "\($0.name) is copied to \($0.place), as a job names its schemas by path" }
        let texts = try files.texts(of: planner, ids: privacy.display, showsValues: privacy.showValues)
        if out != nil {
            let all = Set((schemas.old.collections + schemas.new.collections).map(\.namespace))
            let removed = try files.write(
                texts, replacing: force, for: schemas.only.map { all.intersection([$0]) } ?? all)
            for path in removed where !output.quiet {
                Console.error("removed \(path): an earlier plan left it, and this one has no such job")
            }
        }
        try show(plan, files, texts)
        let isOpen = plan.unplanned > 0 || plan.stuck > 0
        let failOn = failOn ?? (Console.isOutputTerminal ? .unplanned : .review)
        if failOn != .none, isOpen || failOn == .review && plan.reviews + plan.hints.count > 0 {
            throw ExitStatus.findings
        }
    }

    private func look(
        at plan: SchemaPlan, _ planner: Planner, _ schemas: ComparedSchemas
    ) async throws -> SchemaPlan {
        let pool = try connection.pool()
        let namespaces = schemas.only.map { [$0] } ?? schemas.old.collections.map(\.namespace)
        try await pool.requirePrivileges(for: "plan", on: WorkPlaces(reading: namespaces))
        return try await onOwnedThread(name: "plan") { () throws in
            try PlanSurvey(planner).adding(to: plan, from: try pool.client())
        }
    }

    /// Shows the plan; without a folder the jobs are the result, and the text about them goes to standard error.
    private func show(_ plan: SchemaPlan, _ files: PlanFiles, _ texts: [String]) throws {
        let (jobs, partners) = (files.files, files.partners)
        let result = PlanResult(
            plan, files: jobs, partners: partners, texts: texts, isWritten: out != nil, ids: privacy.display)
        guard out == nil, !(jobs.isEmpty && partners.isEmpty), output.output == .text else {
            return try output.show(result)
        }
        // The jobs may be saved to a file, so they are not wrapped to the terminal's width.
        try output.show(result.text(TextLayout())) { ResultFlags.text(of: result, as: $0, .file) }
        if !output.quiet { Console.error(PlanText(plan, files: jobs, partners: partners).text) }
    }
}
