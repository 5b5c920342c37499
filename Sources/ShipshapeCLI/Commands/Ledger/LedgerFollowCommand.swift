internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import Privileges
internal import Reporting
internal import Running
internal import ServerSchema
internal import Watching

struct LedgerFollowCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "ledger follow", "<schema>",
        abstract: "Follows all changes, and keeps a ledger of the documents that do not sync.",
        examples: [
            "ledger follow schemas/v2",
            "ledger follow schemas/v2 --once --strict",
            "ledger follow schemas/v2 --warn-at 90 --on alarm=./alert",
        ],
        details: """
            Reads every collection of SCHEMA once, then checks each document that changes, and keeps a collection of \
            the documents that do not sync. Its entries have the form of the sync engine's ledger, with path, rule and \
            time added. An entry is removed when its document fits or is deleted. check, ledger show and backfill read \
            the collection that the setting ledger names. With --engine, the documents that another sync engine halts \
            at, drops or takes a value from are kept as well.

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
    var into: String?

    @Flag(help: "End once all earlier changes are checked.")
    var once = false

    @Flag(help: "Also record documents that might fail.")
    var strict = false

    @Option(help: ArgumentHelp("The share of the limit at which to warn, in percent.", valueName: "percent"))
    var warnAt = 80

    @OptionGroup(title: "Engine") var engine: EngineFlags
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard (1...100).contains(warnAt) else { throw ValidationError("--warn-at must be from 1 to 100") }
        for (option, name) in [("--collection", collection), ("--into", into)] {
            if let name, Namespace(name) == nil {
                throw ValidationError("\(option): \"\(name)\" is not DATABASE.COLLECTION")
            }
        }
        if let other = monitoring.on.first(where: { $0.event != .alarm }) {
            throw ValidationError("--on \(other.event.rawValue): ledger follow has only the event alarm")
        }
    }

    func work() throws -> Work {
        Work(
            "ledger follow", schema.name, output: output, reads: [schema.name] + engine.files,
            writes: [monitoring.metrics]
        ) { try await run(in: $0) }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let serverSchema = try await schema.read(
            namespace: collection.flatMap { Namespace($0) }, connection: connection)
        try engine.check(for: serverSchema)
        let options = try options(for: serverSchema)
        let showing = WatchShowing(
            metrics: monitoring.metrics, hook: monitoring.command(at: .alarm),
            verb: isOfDeviceSync(serverSchema) ? "sync" : "fit", isQuiet: output.quiet)
        let watch = try Watch(serverSchema, options: options, stop: frame.stop) { showing.show($0) }
        var places = WorkPlaces(reading: serverSchema.collections.map(\.namespace), state: StateDatabase.name)
        places.add([options.ledger], to: .watchLedger)
        let pool = try await frame.pool(for: "ledger follow", on: places, readsFromPrimary: true)
        frame.begin()
        let found: WatchOutcome
        do {
            found = try await onOwnedThread(name: "watch") { () throws in try watch.run(on: pool) }
        } catch is StopAsked {
            Console.failure("stopped by a signal before the ledger was complete; the next run reads the rest", .stopped)
            throw ExitStatus.stopped
        }
        await showing.finish()
        let status: ExitStatus? =
            !once ? nil : !found.isCaughtUp ? .stopped : found.counts.total > 0 ? .findings : nil
        return .result(found, showing.failure ?? status)
    }

    private func isOfDeviceSync(_ schema: ServerSchema) -> Bool {
        schema.dialect == .appServices && (engine.engine ?? .deviceSync) == .deviceSync
    }

    private func options(for schema: ServerSchema) throws -> WatchOptions {
        var options = WatchOptions()
        options.run = RunOptions(Settings.current)
        options.ledger =
            into.flatMap { Namespace($0) }
            ?? Namespace(database: StateDatabase.name, collection: options.ledger.collection)
        options.assumptions = AppSettings.assumptions
        options.assumptions.engine = try engine.settings()
        options.isStrict = strict
        // Only Device Sync has a limit of its own. For another engine, the watch warns only at a limit that the
        // operator states.
        let hasLimit = isOfDeviceSync(schema) || Settings.current.given(Known.limit) != nil
        options.limit = hasLimit ? Settings.current[Known.limit] : .max
        options.warnsAt = warnAt
        options.endsWhenCaughtUp = once
        options.threads = Settings.current[Known.threads]
        return options
    }
}
