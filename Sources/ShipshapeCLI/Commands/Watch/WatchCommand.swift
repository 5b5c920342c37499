internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import JobState
internal import Privileges
internal import Reporting
internal import Running
internal import ServerSchema
internal import Watching

/// The command `shipshape watch SCHEMA`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "watch", "<schema>",
        abstract: "Follows all changes, and keeps a ledger of the documents that do not sync.",
        examples: [
            "watch schemas/v2",
            "watch schemas/v2 --once --strict",
            "watch schemas/v2 --warn-at 90 --hook ./alert",
        ],
        details: """
            Reads every collection of SCHEMA once, then checks each document that changes, and keeps a collection of \
            the documents that do not sync. Its entries have the form of the sync engine's ledger, with path, rule and \
            time added. An entry is removed when its document fits or is deleted. check, unsynced and backfill read \
            the collection with --ledger. With --engine, the documents that another sync engine halts at, drops or \
            takes a value from are kept as well.

            A watch that was stopped or killed continues where it ended. If the oplog no longer holds what happened \
            since, it says so and reads the collection again. Apart from that, it writes only its own state, \
            and never anything below __realm_sync.

            Runs until SIGINT or SIGTERM, and then ends with 0, or with 75 if the ledger was not complete yet. With \
            --once, it ends when it has checked all that happened before it began, with 1 if the ledger is not empty.
            """)

    @Argument(help: "The schema to check against: a file, a folder, or live, as for check.")
    var schema: SchemaArgument

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with an app folder, the only one to watch.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "The collection to keep; default: unsynced_documents in the state database.", valueName: "db.collection"))
    var ledger: String?

    @Flag(
        name: [.customLong("once"), .customLong("until-caught-up")], help: "End once all earlier changes are checked.")
    var once = false

    @Flag(help: "Also record documents that might fail.")
    var strict = false

    @OptionGroup var alarm: AlarmFlags

    @Option(help: ArgumentHelp("Write the counts to this Prometheus textfile.", valueName: "file"), completion: .file())
    var metrics: String?

    @Option(help: ArgumentHelp("How many parts of a collection to read at the same time.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp(
            "How long this runner's lease on the watch lasts after each renewal.", valueName: "duration"))
    var leaseTtl = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp("How long to wait while another live runner holds the watch.", valueName: "duration"))
    var leaseWait = DurationArgument(.seconds(0))

    @OptionGroup(title: "Engine") var engine: EngineFlags
    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard (1...64).contains(threads) else { throw ValidationError("--threads must be from 1 to 64") }
        guard (.seconds(1)...(.seconds(3_600))).contains(leaseTtl.duration) else {
            throw ValidationError("--lease-ttl must be from 1s to 1h: if a watch dies, the next one waits that long")
        }
        for (flag, name) in [("--collection", collection), ("--ledger", ledger)] {
            if let name, Namespace(name) == nil {
                throw ValidationError("\(flag): \"\(name)\" is not DATABASE.COLLECTION")
            }
        }
    }

    func run() async throws {
        try output.prepare(reading: [schema.name] + engine.files + connection.files, writing: [metrics])
        let serverSchema = try await schema.read(
            namespace: collection.flatMap { Namespace($0) }, connection: connection)
        try engine.check(for: serverSchema)
        let options = try options(for: serverSchema)
        let interruption = Interruption()
        let signals = interruption.listen()
        defer { signals.cancel() }
        let showing = WatchShowing(
            metrics: metrics, hook: alarm.hook, verb: isOfDeviceSync(serverSchema) ? "sync" : "fit",
            isQuiet: output.quiet)
        let watch = try Watch(serverSchema, options: options, stop: interruption.stop) { showing.show($0) }
        let pool = try connection.pool(readsFromPrimary: true)
        var places = WorkPlaces(reading: serverSchema.collections.map(\.namespace), state: state.stateDatabase)
        places.add([options.ledger], to: .watchLedger)
        try await pool.requirePrivileges(for: "watch", on: places)
        interruption.beginWork()
        let outcome: WatchOutcome
        do {
            outcome = try await onOwnedThread(name: "watch") { () throws in try watch.run(on: pool) }
        } catch is StopAsked {
            Console.failure("stopped by a signal before the ledger was complete; the next run reads the rest", .stopped)
            throw ExitStatus.stopped
        }
        await showing.finish()
        try output.show(WatchResult(outcome))
        if let error = showing.failure { throw error }
        guard once else { return }
        if !outcome.isCaughtUp { throw ExitStatus.stopped }
        if outcome.counts.total > 0 { throw ExitStatus.findings }
    }

    private func isOfDeviceSync(_ schema: ServerSchema) -> Bool {
        schema.dialect == .appServices && (engine.engine ?? .deviceSync) == .deviceSync
    }

    private func options(for schema: ServerSchema) throws -> WatchOptions {
        var options = WatchOptions()
        options.run.stateDatabase = state.stateDatabase
        options.run.lease = LeaseTerms(duration: leaseTtl.duration)
        options.run.leaseWait = leaseWait.duration
        options.ledger =
            ledger.flatMap { Namespace($0) }
            ?? Namespace(database: state.stateDatabase, collection: options.ledger.collection)
        options.assumptions = app.assumptions
        options.assumptions.engine = try engine.settings()
        options.isStrict = strict
        // Only Device Sync has a limit of its own. For another engine, the watch warns only at a limit that the
        // operator states.
        options.limit = alarm.limit ?? (isOfDeviceSync(schema) ? DeployVerdict.defaultLimit : .max)
        options.warnsAt = alarm.warnAt
        options.endsWhenCaughtUp = once
        options.threads = threads
        return options
    }
}

/// The flags for the limit of unsynced documents, and for the warning as the count comes near the limit.
struct AlarmFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The count of unsynced documents at which sync stops; "
                + "default: \(DeployVerdict.defaultLimit) with Device Sync, else none.", valueName: "count"))
    var limit: Int?

    @Option(help: ArgumentHelp("The share of the limit at which to warn, in percent.", valueName: "percent"))
    var warnAt = 80

    @Option(
        help: ArgumentHelp(
            "A shell command to run when the count reaches --warn-at.",
            discussion:
                "It gets SHIPSHAPE_UNSYNCED, SHIPSHAPE_LIMIT and SHIPSHAPE_LEDGER, and is stopped after 5 minutes.",
            valueName: "command")
    )
    var hook: String?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        guard (1...100).contains(warnAt) else { throw ValidationError("--warn-at must be from 1 to 100") }
    }
}
