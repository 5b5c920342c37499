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
internal import SchemaChange
internal import ServerSchema

/// The parts of `check` that use its report: they propose the next command, find the positions of the findings, add
/// exceptions, and store the failing documents.
extension CheckCommand {
    /// Returns where the parts of the schema are in its files, for reports; `nil` without a schema, and for `live`.
    func places(in schema: ServerSchema) -> SchemaPlaces? {
        guard let argument = subject.schema, !argument.isLive else { return nil }
        let revision = GitRevision(argument.name)
        return SchemaPlaces(schema, of: argument.name) { revision?.path(of: $0) ?? $0 }
    }

    /// Returns the command that explains one rule of an engine: the rule with the worst outcome, among those that
    /// documents break or might break.
    ///
    /// Returns `nil` if there is no such rule. A rule with the outcome `changed` is not explained, because no value is
    /// lost.
    private static func explanation(of report: CheckReport) -> String? {
        let groups = report.collections.flatMap(\.groups).filter { $0.violation.level >= .possible }
        let worst = groups.max { $0.outcome ?? .changed < $1.outcome ?? .changed }
        return worst.flatMap { $0.outcome == nil ? nil : "shipshape explain \($0.violation.rule)" }
    }

    /// Returns the command that the report proposes next; `nil` if there is none.
    ///
    /// If documents break or might break a rule of an engine, the command plans their repair or, if the plan would
    /// write nothing, explains the worst of these rules. Otherwise, if every document was read, the command plans jobs.
    /// If documents would or might stop syncing, the jobs are for the schema change; else they repair the documents
    /// that fail under the live schema.
    /// - Parameter schema: the schema that was read or, without one, the collections that were checked.
    func next(after report: CheckReport, of schema: ServerSchema) -> String? {
        let live = comparison.active ?? subject.schema
        if let explanation = Self.explanation(of: report) {
            if writes(schema, after: report) { return repair(of: live) ?? explanation }
            // A job that names a schema changes only fields that the schema declares; a plan without it changes any.
            let found = report.collections.filter { $0.groups.contains { $0.outcome != nil } }.map(\.namespace)
            let bare = ServerSchema(
                dialect: .jsonSchema, collections: found.map { CollectionSchema(withoutSchema: $0) })
            return (writes(bare, after: report) ? repair(of: nil, in: found.map { "\($0)" }) : nil) ?? explanation
        }
        guard let checked = subject.schema, !report.isPartial else { return nil }
        guard let active = comparison.active, report.active?.change?.changes.isEmpty == false,
            report.verdict.stopping + report.verdict.possiblyStopping > 0
        else {
            let failing =
                if let changes = report.total.changes {
                    changes.alreadyFailing + (isStrict ? changes.alreadyPossible : 0)
                } else {
                    report.total.unexcepted.certain + (isStrict ? report.total.unexcepted.possible : 0)
                }
            return failing > 0 ? repair(of: live) : nil
        }
        let place = subject.collection.map { (name: "--collection", value: $0) }
        // For documents that only a unique index refuses, a plan of the new schema alone has the jobs.
        guard report.total.refused.new < report.verdict.stopping else {
            return "\(NextCommand("plan", [checked.name], place + [("--out", PlanFiles.folderForRepairs)]))"
        }
        return "\(NextCommand("plan", [active.name, checked.name], place + [("--out", "jobs")]))"
    }

    /// Whether a plan of repairs for a schema has a file to write.
    private func writes(_ schema: ServerSchema, after report: CheckReport) -> Bool {
        let planner = Planner(from: schema, to: schema)
        let plan = try? planner.repairs(of: report, includesPossible: isStrict)
        return plan?.isEmpty == false
    }

    /// Returns the command that plans the repair of documents for the live schema and the engine.
    ///
    /// Returns `nil` if the documents are from a dump or from a collection of another name, because jobs would not
    /// change the documents that were checked.
    private func repair(of live: SchemaArgument?, in collections: [String]? = nil) -> String? {
        guard subject.source == nil, scan.map.isEmpty else { return nil }
        let engine = engine.engine.map { [(name: "--engine", value: $0.rawValue)] } ?? []
        let place = (collections ?? subject.collection).map { (name: "--collection", value: $0) }
        let flags = engine + place + [("--out", PlanFiles.folderForRepairs)]
        return "\(NextCommand(isStrict ? "plan --strict" : "plan", live.map { [$0.name] } ?? [], flags))"
    }

    private var isStrict: Bool {
        comparison.policy(isStrict: severity.strict, of: subject.schema).includesPossible
    }

    /// If the user gives `--accept`, adds an exception to the file of exceptions for each finding and each schema
    /// change that makes the check fail.
    func accept(_ report: CheckReport, _ policy: FailurePolicy, _ statement: ExceptionStatement?) throws {
        guard let statement else { return }
        let new = policy.failingGroups(in: report).map { namespace, group in
            let violation = group.violation
            return NewException(
                collection: "\(namespace)", path: "\(violation.path)", rule: violation.rule.rawValue,
                fingerprint: violation.fingerprint(in: namespace),
                remark: "expected \(violation.expected), found \(violation.found)")
        }
        try Exceptions().accept(new + policy.failingChanges(in: report).map(NewException.init), statement)
        let rest = report.collections.reduce(0) { $0 + $1.overflowCount }
        if rest > 0 { Console.error("\(rest.counted("finding")) not accepted, because they are in no group") }
    }

    /// Returns the collection that `--failures` names; `nil` if it names none.
    /// - Throws: ``UsageError`` if the collection has documents that no check wrote, or is itself checked; errors of
    ///   connecting and of checking the privileges.
    func failureCollection(of run: CheckRun, _ pool: ClientPool?) async throws -> FailureCollection? {
        guard let namespace = failures.collection else { return nil }
        let checked = run.schema.collections.map { run.map.target(of: $0.namespace) }
        guard !checked.contains(namespace), run.schema[namespace] == nil else {
            throw UsageError("--failures db:\(namespace): the collection itself is checked: name another one")
        }
        if let reason = namespace.refusal(stateDatabase: run.stateDatabase) {
            throw UsageError("--failures db:\(namespace): \(reason)")
        }
        let pool = try pool ?? connection.pool()
        var places = WorkPlaces()
        places.add([namespace], to: .failures)
        try await pool.requirePrivileges(for: "check", on: places)
        let collection = FailureCollection(namespace, keeping: Settings.current[Known.keepFailures], on: pool)
        try await onOwnedThread(name: "failures") { () throws in try collection.claim() }
        return collection
    }

    /// Stores the failing documents of this check in a collection, and prints their number and the ID of the run.
    func store(in collection: FailureCollection) async throws {
        let name = checkedName
        let (run, count) = try await onOwnedThread(name: "failures") { () throws in
            do { return try collection.store(schema: name, at: .now) } catch let error as MongoError {
                throw OutputError(
                    description: "the failing documents could not be stored in \(collection.namespace): \(error); "
                        + "they are in \(try collection.keepLines())")
            }
        }
        if !output.quiet {
            Console.error("stored \(count.counted("failing document")) in \(collection.namespace), run \(run)")
        }
    }
}
