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

/// `shipshape watch SCHEMA`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follows all changes, and keeps a ledger of the documents that do not sync.",
        discussion: """
            Reads every collection of SCHEMA once, then judges each document that changes, and keeps a collection of those \
            that do not sync: the sync engine's own shape, with the path, the rule and the time beside it. An entry leaves \
            when its document fits or is gone. check, unsynced and backfill read it with --ledger.

            It goes on where it was stopped or killed. Where the oplog no longer holds what happened since, it says so and \
            reads the collection anew. Nothing else is written, and never anything below __realm_sync.

            Runs until SIGINT or SIGTERM, and ends with 0 then; with 75 where that came before the ledger was whole. With \
            --once it ends when it has judged all that had happened when it began: with 1 when the ledger is not empty.
            """)

    @Argument(help: "The schema to judge by: a file, a folder, or live, as for check.")
    var schema: SchemaArgument

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json is for; of an app folder, the only one to watch.",
            valueName: "db.collection"))
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "The collection to keep; default: unsynced_documents in the state database.", valueName: "db.collection"))
    var ledger: String?

    @Flag(
        name: [.customLong("once"), .customLong("until-caught-up")], help: "End once all that has happened is judged.")
    var once = false

    @Flag(help: "Also record documents that might stop syncing.")
    var strict = false

    @Option(help: ArgumentHelp("The count of unsynced documents at which sync stops.", valueName: "count"))
    var limit = DeployVerdict.defaultLimit

    @Option(help: ArgumentHelp("The share of the limit from which on to warn, in percent.", valueName: "percent"))
    var warnAt = 80

    @Option(
        help: ArgumentHelp(
            "A command for the shell to run when the count comes to --warn-at.",
            discussion:
                "It is told by SHIPSHAPE_UNSYNCED, SHIPSHAPE_LIMIT and SHIPSHAPE_LEDGER, and ended after 5 minutes.",
            valueName: "command")
    )
    var hook: String?

    @Option(help: ArgumentHelp("Keep a Prometheus textfile with the counts.", valueName: "file"), completion: .file())
    var metrics: String?

    @Option(help: ArgumentHelp("How many parts of a collection are read at once.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp("How long the watch stays this runner's after each sign of life.", valueName: "duration"))
    var leaseTtl = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp("How long to wait for a watch that another, living runner keeps.", valueName: "duration"))
    var leaseWait = DurationArgument(.seconds(0))

    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        guard (1...100).contains(warnAt) else { throw ValidationError("--warn-at must be from 1 to 100") }
        guard (1...64).contains(threads) else { throw ValidationError("--threads must be from 1 to 64") }
        guard (.seconds(1)...(.seconds(3_600))).contains(leaseTtl.duration) else {
            throw ValidationError("--lease-ttl must be from 1s to 1h: a watch that dies is held for that long")
        }
        for (flag, name) in [("--collection", collection), ("--ledger", ledger)] {
            if let name, Namespace(name) == nil {
                throw ValidationError("\(flag): \"\(name)\" is not DATABASE.COLLECTION")
            }
        }
    }

    func run() async throws {
        try output.prepare(reading: [schema.name] + connection.files, writing: [metrics])
        let serverSchema = try await schema.read(
            namespace: collection.flatMap { Namespace($0) }, connection: connection)
        let interruption = Interruption()
        let signals = interruption.listen()
        defer { signals.cancel() }
        let showing = WatchShowing(metrics: metrics, hook: hook, isQuiet: output.quiet)
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
            Console.failure("stopped by a signal before the ledger was whole; the next run reads the rest", .stopped)
            throw ExitStatus.stopped
        }
        await showing.finish()
        try output.show { form, _ in
            switch form {
            case .text: WatchReport.text(outcome)
            case .json: WatchReport.json(outcome)
            }
        }
        if let error = showing.failure { throw error }
        guard once else { return }
        if !outcome.isCaughtUp { throw ExitStatus.stopped }
        if outcome.counts.total > 0 { throw ExitStatus.findings }
    }

    private var options: WatchOptions {
        var options = WatchOptions()
        options.run.stateDatabase = state.stateDatabase
        options.run.lease = LeaseTerms(duration: leaseTtl.duration)
        options.run.leaseWait = leaseWait.duration
        options.ledger =
            ledger.flatMap { Namespace($0) }
            ?? Namespace(database: state.stateDatabase, collection: options.ledger.collection)
        options.assumptions = app.assumptions
        options.isStrict = strict
        options.limit = limit
        options.warnsAt = warnAt
        options.endsWhenCaughtUp = once
        options.threads = threads
        return options
    }
}
