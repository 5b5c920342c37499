internal import ArgumentParser
internal import BSON
internal import Checking
internal import Concurrency
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import ServerSchema

/// `shipshape unsynced [SCHEMA]`.
struct UnsyncedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsynced",
        abstract: "Reads the ledger of unsynced documents: how many, which, why, and how much headroom.",
        discussion: """
            The ledger is looked for in __realm_sync and in the per-app databases __realm_sync_<app id>, unless --ledger \
            names it. It is read, and never written. With SCHEMA every document that it records is looked at now: does \
            it still fail, and why; does it fit; is it gone? The latter two make its entry stale.

            Ends with 1 when documents are recorded, with SCHEMA only when one of them still fails, may fail, or is of a \
            collection that SCHEMA does not cover, and when an app is at its limit; with 0 when there is no ledger; with 77 when it cannot be read.
            """)

    @Argument(help: "The schema to explain the entries by: a file, a folder, or live, as for check.")
    var schema: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json is for; of an app folder, the only one to look at.",
            valueName: "db.collection"))
    var collection: String?

    @Option(help: ArgumentHelp("The count of unsynced documents at which sync stops.", valueName: "count"))
    var limit = DeployVerdict.defaultLimit

    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Output") var output: ResultFlags

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        if ledger.ledger == LedgerLocation.none { throw ValidationError("--ledger none leaves nothing to read") }
        guard let collection else { return }
        guard Namespace(collection) != nil else {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if schema == nil { throw ValidationError("--collection says what SCHEMA is for, and there is no SCHEMA") }
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
