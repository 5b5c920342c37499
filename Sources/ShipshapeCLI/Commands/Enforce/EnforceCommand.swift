internal import ArgumentParser
internal import BSON
internal import Checking
internal import Enforcing
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema

/// `shipshape enforce VALIDATOR`.
struct EnforceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enforce",
        abstract: "Has MongoDB itself hold a validator: at warn first, at error once every document fits.",
        discussion: """
            Reads every document, sets the validator with the action warn, reads again, sets error, and reads once more, \
            as documents may have been written meanwhile. Where documents do not fit it names them, stops before error and \
            ends with 1: repair them (shipshape plan, shipshape backfill) and run it again, it goes on from there.

            Each step shows its command, asks, and is read back; off a terminal it needs --yes. It may be killed at any \
            moment: the next run sees how far the collection is. --abort puts back what was there before, and is \
            refused where somebody else changed it meanwhile. From warn to error an older validator refuses nothing.

            --to constraint (MongoDB 9.0) has the server vouch for every document: the validator cannot be changed then, \
            nor gone around, nor the deployment be downgraded. That step follows MongoDB's documentation and has been \
            tried against a stand-in only.
            """)

    /// The stage to reach.
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

    @Argument(help: "The validator: a file with a $jsonSchema, or live for the one that is there.")
    var validator: SchemaArgument?

    @Option(help: ArgumentHelp("The collection.", valueName: "db.collection"))
    var collection: String

    @Option(help: ArgumentHelp("How far to go.", valueName: "warn|error|constraint"))
    var to = Goal.error

    @Flag(help: "Say how far the collection is; read no documents, and write nothing.")
    var status = false

    @Flag(help: "Put back the validator, the level and the action that were there before.")
    var abort = false

    @Flag(help: "Read the documents and show what would be run; write nothing.")
    var dryRun = false

    @Flag(
        help: "Begin anew with what is there now, though somebody else changed it or another validator is on its way.")
    var restart = false

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @Option(help: ArgumentHelp("How many parts of the collection are read at once.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp("Read at most so many documents per second, all threads together.", valueName: "count"))
    var rate: Int?

    @OptionGroup(title: "Evidence") var evidence: EvidenceFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Another User") var changer: CollModFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        guard let namespace = Namespace(collection) else {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if let reason = namespace.refusal(stateDatabase: state.stateDatabase) {
            throw ValidationError("--collection: enforce sets no validator for \(namespace): \(reason)")
        }
        guard [status, abort, dryRun].count(where: \.self) <= 1 else {
            throw ValidationError("--status, --abort and --dry-run go by themselves")
        }
        if validator == nil, !status, !abort { throw ValidationError("say which validator: a file, or live") }
        if abort, validator != nil {
            throw ValidationError("--abort takes no validator: it puts back the one from before")
        }
        if connection.readPreference != nil {
            throw ValidationError("enforce reads from the primary: --read-preference does not go with it")
        }
    }

    func run() async throws {
        try output.prepare(
            reading: [validator?.name, changer.collmodPasswordFile] + connection.files, writing: [evidence.failures])
        guard let namespace = Namespace(collection) else { preconditionFailure("validated") }
        let interruption = Interruption("stopped by a signal; run it again, it goes on from where the collection is")
        let signals = interruption.listen()
        defer { signals.cancel() }
        let pool = try connection.pool(readsFromPrimary: true)
        let changing = try await changing(pool, WorkPlaces(reading: [namespace], state: state.stateDatabase))
        let subject: (schema: ServerSchema, validator: BSONDocument)? =
            if let validator { try await read(validator, namespace) } else { nil }
        let deployment = EnforcedDeployment(namespace, state: state.stateDatabase, reading: pool, changing: changing)
        let run = EnforceRun(self, deployment, subject, interruption)
        let report =
            if abort { try await run.abort() } else if status { try await run.status() } else { try await run.go() }
        try output.show(
            EnforceResult(report, ids: privacy.display, showsFilters: evidence.filters || evidence.prove))
        if (report.notFitting ?? 0) > 0 { throw ExitStatus.findings }
    }

    /// Checks the privileges of the users, and returns the pool of the user that changes the collection.
    private func changing(_ pool: ClientPool, _ places: WorkPlaces) async throws -> ClientPool {
        guard !status, !dryRun else {
            try await pool.requirePrivileges(for: "enforce --dry-run", on: places)
            return pool
        }
        guard let user = try changer.user(), let needs = CommandNeeds.of("enforce") else {
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
            throw InputError("\(note.description): what is not judged here is not enforced either")
        }
        let file = try BSONDocument(extendedJSON: source.text)
        guard
            let root = [file, file["validator"]?.document, file["options"]?.document?["validator"]?.document]
                .compactMap({ $0?["$jsonSchema"]?.document }).first
        else { throw InputError("\(argument.name) is not one MongoDB validator: a file with a $jsonSchema") }
        return (schema, ["$jsonSchema": .object(root)])
    }
}
