internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Mongo
internal import Planning
internal import Privileges
internal import Reporting
internal import Scanning
internal import ServerSchema

/// The commands `shipshape plan SCHEMA` and `shipshape plan --engine ENGINE`.
extension PlanCommand {
    /// Plans the repair of the documents that fail a schema or trouble an engine now.
    func planRepairs(of argument: SchemaArgument?) async throws -> CommandOutcome {
        let asked = collection.compactMap { Namespace($0) }
        let subject = try await CheckSubject(argument, only: asked, engine, connection)
        let (pool, schema, settings) = (try connection.pool(), subject.schema, subject.engine)
        let ofEngine = SchemaArgument(argument: "--engine \(settings?.engine.rawValue ?? "")")
        let named = NamedSchema(argument: (subject.hasSchema ? argument : nil) ?? ofEngine, schema: schema)
        let namespaces = schema.collections.map(\.namespace)
        try await pool.requirePrivileges(for: "plan", on: WorkPlaces(reading: namespaces))
        var options = PlanOptions()
        options.defaults = decisions.defaults
        let planner = Planner(from: schema, to: schema, options: options)
        let report = try await check(schema, on: pool, hasExceptions: true, settings)
        let (undeclared, values) = try await ProgressLine.during("plan: values", isShown: output.showsProgress) {
            () throws in
            let client = try pool.client()
            return (
                try UndeclaredNames(of: report, schema, on: client),
                try BadValues(of: report, schema, areShown: privacy.showValues, on: client)
            )
        }
        var plan = try planned(by: planner) {
            try planner.repairs(of: report, includesPossible: strict, undeclared: undeclared, values: values)
        }
        plan.engine = settings?.engine
        plan.notes += settings?.notes(for: schema, hasSchema: subject.hasSchema) ?? []
        let (survey, assumptions) = (plan, assumptions(settings))
        plan = try await ProgressLine.during("plan: what the jobs repair", isShown: output.showsProgress) {
            () throws in
            let checked = RepairedCheck(report, includesPossible: strict, values) {
                CompiledSchema($0, of: schema, options: assumptions)
            }
            return try PlanSurvey(planner, showsValues: privacy.showValues).adding(
                to: survey, of: checked, from: try pool.client())
        }
        if schema.isContract {
            plan.notes.append(
                "run the jobs, then prisma db update, which adds these validators, and deploy the new client last")
        }
        return try finish(
            plan, planner, named, named, only: schema.isOneFile || asked.count == 1 ? namespaces.first : nil)
    }

    private func assumptions(_ engine: EngineSettings?) -> CheckOptions {
        var assumptions = AppSettings.assumptions
        assumptions.engine = engine
        return assumptions
    }

    /// Checks the documents, as `check` does without an active schema and without the ledger.
    /// - Parameter hasExceptions: whether findings that the operator's file of exceptions covers are left out.
    func check(
        _ schema: ServerSchema, on pool: ClientPool, hasExceptions: Bool, _ engine: EngineSettings? = nil
    ) async throws -> CheckReport {
        let namespaces = schema.collections.map(\.namespace)
        var run = CheckRun(
            schema: schema, limit: .max, scan: ScanSelection(Settings.current),
            map: try NamespaceMap([], for: namespaces),
            makeProgress: (output.showsProgress ? ProgressLine.ofCheck : ProgressLine.hidden), stop: StopSignal())
        run.ledger.location = .none
        run.stateDatabase = StateDatabase.name
        run.rules.assumptions = assumptions(engine)
        if hasExceptions {
            run.rules.exceptions = try Exceptions().read(
                for: schema.collections.map(run.compile), of: schema, isPart: !collection.isEmpty)
        }
        return try await run.check(live: pool)
    }
}
