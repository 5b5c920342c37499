internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import ServerSchema

/// The command `shipshape unsynced [SCHEMA]`.
struct UnsyncedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "unsynced", "[<schema>]",
        abstract: "Reads the ledger of unsynced documents: how many, which, why, and how much headroom.",
        examples: [
            "unsynced",
            "unsynced schemas/v2 --report unsynced.html",
        ],
        details: """
            The ledger is searched for in __realm_sync and in the per-app databases __realm_sync_<app id>, unless \
            --ledger names it. It is read, and never written. With SCHEMA, every document in the ledger is checked \
            now: whether it still fails and why, fits, or no longer exists. If it fits or no longer exists, its entry \
            is stale.

            Exit code 1 means that the ledger has documents; with SCHEMA, only that one of them still fails, might \
            fail, or is in a collection that SCHEMA does not cover. An app at its limit always gives 1. Without a \
            ledger the exit code is 0; if the ledger cannot be read, it is 77.
            """)

    @Argument(help: "The schema that explains the entries: a file, a folder, or live, as for check.")
    var schema: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with an app folder, the only one to check.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(help: ArgumentHelp("The count of unsynced documents at which sync stops.", valueName: "count"))
    var limit = DeployVerdict.defaultLimit

    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        if ledger.ledger == LedgerLocation.none { throw ValidationError("--ledger none leaves nothing to read") }
        guard let collection else { return }
        guard Namespace(collection) != nil else {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if schema == nil { throw ValidationError("--collection needs SCHEMA: it names the collection of the schema") }
    }

    func run() async throws {
        try output.prepare(reading: [schema?.name] + connection.files)
        let only = collection.flatMap { Namespace($0) }
        let serverSchema = try await schema?.read(namespace: only, connection: connection)
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        var run = UnsyncedRun(apps: ledger.apps(of: [serverSchema]), limit: limit, stop: stop)
        run.ledger = ledger.location
        run.schema = serverSchema
        run.schemaPath = schema?.name
        run.isNarrowed = only != nil
        run.keepsValues = privacy.showValues
        let pool = try connection.pool()
        let namespaces = serverSchema?.collections.map(\.namespace) ?? []
        try await pool.requirePrivileges(
            for: "unsynced",
            on: WorkPlaces(reading: namespaces, ledger: ledger.location, apps: ledger.apps(of: [serverSchema]).ids))
        interruption.beginWork()
        var report = try await run.run(on: pool)
        let ids = privacy.display
        if !privacy.showValues {
            let showsReasons = privacy.ids == .show
            report.maskReasons { showsReasons ? Redaction.valueMessage($0) : nil }
            if !showsReasons { report.notes.append("the ledger's reasons are not shown: they may quote documents") }
        }
        try output.show(UnsyncedResult(report, ids: ids))
        if report.hasFindings { throw ExitStatus.findings }
    }
}
