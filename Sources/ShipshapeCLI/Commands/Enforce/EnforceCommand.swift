internal import ArgumentParser
internal import BSON
internal import Enforcing
internal import Files
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema

struct EnforceCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "enforce", "[<validator>] --collection <db.collection>",
        abstract: "Tightens a collection's validator step by step: warn first, error once every document fits.",
        examples: [
            "enforce validator.json --collection app.person --dry-run",
            "enforce validator.json --collection app.person",
            "enforce --collection app.person --abort",
        ],
        details: """
            Reads every document, sets the validator with the action warn, reads again, sets error, and reads a last \
            time, because documents may have been written in between. If documents do not fit, it lists them, stops \
            before error and ends with exit code 1. Repair them (shipshape plan, shipshape backfill) and run \
            enforce again; it continues from there.

            Each step shows its command, asks, and reads back the result; without a terminal it needs --yes. It may be \
            killed at any moment: the next run finds out how far the collection is. --abort restores the earlier \
            validator, but not if another client has changed it since. Between warn and error, no write is refused, \
            not even by an older validator.

            --to constraint (MongoDB 9.0) makes the server guarantee that every document fits: after that the \
            validator cannot be changed or bypassed, and the deployment cannot be downgraded. This step follows \
            MongoDB's documentation and was tested only against a stand-in.
            """)

    /// The stage up to which the command tightens the validator.
    enum Goal: String, ExpressibleByArgument, CaseIterable {
        case warn, error, constraint

        var stage: EnforcementStage {
            switch self {
            case .warn: .warn
            case .error: .error
            case .constraint: .constraint
            }
        }
    }

    /// The flags that make the command do something other than tighten the validator.
    struct ModeFlags: ParsableArguments {
        @Flag(help: "Show how far the collection is; read no documents and write nothing.")
        var status = false

        @Flag(help: "Restore the earlier validator, level and action.")
        var abort = false

        @Flag(help: "Read the documents and show the commands; write nothing.")
        var dryRun = false

        func validate() throws {
            guard [status, abort, dryRun].count(where: \.self) <= 1 else {
                throw ValidationError("give only one of --status, --abort and --dry-run")
            }
        }
    }

    @Argument(help: "The validator: a file with a $jsonSchema, or live for the one that the collection has.")
    var validator: SchemaArgument?

    @Option(
        help: ArgumentHelp("The collection.", valueName: "db.collection"),
        completion: .collections)
    var collection: String

    @Option(help: ArgumentHelp("How far to go.", valueName: "warn|error|constraint"))
    var to = Goal.error

    @OptionGroup var mode: ModeFlags

    @Flag(
        help: "Start over, although another client changed the validator or another enforcement is unfinished.")
    var restart = false

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @OptionGroup(title: "Evidence") var failing: FailuresFileFlags
    @OptionGroup(title: "Evidence") var evidence: EvidenceFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard Namespace(collection) != nil else {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if validator == nil, !mode.status, !mode.abort { throw ValidationError("name the validator: a file, or live") }
        if mode.abort, validator != nil {
            throw ValidationError("--abort takes no validator: it restores the earlier one")
        }
    }

    func work() throws -> Work {
        guard let namespace = Namespace(collection) else { preconditionFailure("validated") }
        if let reason = namespace.refusal(stateDatabase: StateDatabase.name) {
            throw UsageError("--collection: enforce sets no validator for \(namespace): \(reason)")
        }
        return Work(
            "enforce", collection, output: output,
            reads: [validator?.name, Settings.current[Known.collmodPasswordFile]],
            writes: [failing.failures], idle: "stopped by a signal; run it again to continue"
        ) { frame in
            let pool = try frame.pool(readsFromPrimary: true)
            let changing = try await changing(pool, WorkPlaces(reading: [namespace], state: StateDatabase.name))
            let subject: (schema: ServerSchema, validator: BSONDocument)? =
                if let validator { try await read(validator, namespace) } else { nil }
            let deployment = EnforcedDeployment(namespace, state: StateDatabase.name, reading: pool, changing: changing)
            let run = EnforceRun(self, deployment, subject, frame.interruption)
            let report =
                if mode.abort {
                    try await run.abort()
                } else if mode.status {
                    try await run.status()
                } else {
                    try await run.go()
                }
            let showsFilters = evidence.filters || evidence.countGroups
            return .result(
                EnforceResult(report, ids: IDForm.display, showsFilters: showsFilters),
                (report.notFitting ?? 0) > 0 ? ExitStatus.findings : nil)
        }
    }

    /// Checks the privileges, and returns the pool for the commands that change the collection's validator, for which
    /// the operator may name another user.
    private func changing(_ pool: ClientPool, _ places: WorkPlaces) async throws -> ClientPool {
        guard !mode.status, !mode.dryRun else {
            try await pool.requirePrivileges(for: "enforce --dry-run", on: places)
            return pool
        }
        guard let user = try CollModUser.login, let needs = CommandNeeds.of("enforce") else {
            try await pool.requirePrivileges(for: "enforce", on: places)
            return pool
        }
        let changing = try connection.pool(readsFromPrimary: true, as: user)
        try await changing.requirePrivileges(needs.only("collMod"), on: places)
        try await pool.requirePrivileges(needs.without("collMod"), on: places)
        return changing
    }

    /// Reads the validator, as a schema for checking documents and as the document for the server.
    private func read(
        _ argument: SchemaArgument, _ namespace: Namespace
    ) async throws -> (schema: ServerSchema, validator: BSONDocument) {
        let schema = try await argument.read(namespace: namespace, connection: connection)
        guard schema.dialect == .jsonSchema, schema.collections.map(\.namespace) == [namespace],
            schema.sources.count == 1, let source = schema.sources.first
        else { throw InputError("\(argument.name) is not one MongoDB validator: a file with a $jsonSchema") }
        if let note = schema.notes.first(where: { $0.code == .unevaluatedKeyword }) {
            throw InputError("\(note.description): enforce takes only validators that it can judge whole")
        }
        let file = try BSONDocument(extendedJSON: source.text)
        guard
            let root = [file, file["validator"]?.document, file["options"]?.document?["validator"]?.document]
                .compactMap({ $0?["$jsonSchema"]?.document }).first
        else { throw InputError("\(argument.name) is not one MongoDB validator: a file with a $jsonSchema") }
        return (schema, ["$jsonSchema": .object(root)])
    }
}
