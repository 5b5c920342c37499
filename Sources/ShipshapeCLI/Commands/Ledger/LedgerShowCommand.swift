internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import ServerSchema

struct LedgerShowCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        "ledger show", "[<schema>]",
        abstract: "Reads the ledger of unsynced documents: how many, which, why, and how much headroom.",
        examples: [
            "ledger show",
            "ledger show schemas/v2 --report unsynced.html",
        ],
        details: """
            The ledger is searched for in __realm_sync and in the per-app databases __realm_sync_<app id>, unless the \
            setting ledger names it. It is read, and never written. With SCHEMA, every document in the ledger is \
            checked now: whether it still fails and why, fits, or no longer exists. If it fits or no longer exists, \
            its entry is stale.

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

    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        guard let collection else { return }
        guard Namespace(collection) != nil else {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if schema == nil { throw ValidationError("--collection needs SCHEMA: it names the collection of the schema") }
    }

    func work() throws -> Work {
        Work("ledger show", output: output, reads: [schema?.name]) { try await run(in: $0) }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let location = LedgerPlace.location
        if location == .none {
            throw UsageError("the setting ledger is none, so there is nothing to read: name the ledger")
        }
        let only = collection.flatMap { Namespace($0) }
        let serverSchema = try await schema?.read(namespace: only, connection: connection)
        let apps = LedgerPlace.apps(of: [serverSchema])
        var run = UnsyncedRun(apps: apps, limit: Settings.current[Known.limit], stop: frame.stop)
        run.ledger = location
        run.schema = serverSchema
        run.schemaPath = schema?.name
        run.isNarrowed = only != nil
        run.keepsValues = privacy.showValues
        let namespaces = serverSchema?.collections.map(\.namespace) ?? []
        let pool = try await frame.pool(
            for: "ledger show", on: WorkPlaces(reading: namespaces, ledger: location, apps: apps.ids))
        frame.begin()
        var report = try await run.run(on: pool)
        if !privacy.showValues {
            let showsReasons = Settings.current[Known.ids] == .show
            report.maskReasons { showsReasons ? Redaction.valueMessage($0) : nil }
            if !showsReasons { report.notes.append("the ledger's reasons are not shown: they may quote documents") }
        }
        return .result(UnsyncedResult(report, ids: IDForm.display), report.hasFindings ? ExitStatus.findings : nil)
    }
}
