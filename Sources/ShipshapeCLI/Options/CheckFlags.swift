internal import ArgumentParser
internal import BSON
internal import Checking
internal import ServerSchema

/// The schema of a check, and the flags that select the documents to check: collections, databases or a dump.
struct CheckSubjectFlags: ParsableArguments {
    @Argument(help: "The schema to check against: a file, a folder, or live; not needed with --engine.")
    var schema: SchemaArgument?

    /// Further schemas, which the user gives by mistake and the command refuses.
    @Argument(help: .hidden)
    var others: [SchemaArgument] = []

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with an app folder or --engine, a collection to check "
                + "(repeatable).",
            valueName: "db.collection"), completion: .collections)
    var collection: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read documents from a dump or an export instead: a folder, a file, or - for standard input.",
            valueName: "path"), completion: .file())
    var source: String?

    @Option(
        help: ArgumentHelp(
            "Check every database whose name matches, such as 'tenant_*'; SCHEMA must describe a single database.",
            discussion: "* matches any characters, ? one character. Each database has its own verdict.",
            valueName: "pattern"))
    var databases: String?

    func validate() throws {
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
    }

    /// The only collections to check; empty for all.
    var namespaces: [Namespace] { collection.compactMap { Namespace($0) } }
}

/// The flags that decide which findings a check reports, and which findings make the check fail.
///
/// Two more flags set the number of unsynced documents at which sync stops, and the place where the counts of the check
/// are stored.
struct SeverityFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The count of unsynced documents at which sync stops.", valueName: "count"))
    var limit = DeployVerdict.defaultLimit

    @Flag(help: "Documents that might fail also fail the check.")
    var strict = false

    @Flag(help: "Also report mere information, such as fields that the schema does not declare; slower.")
    var info = false

    @Option(
        help: ArgumentHelp(
            "Store the counts of this run, and report what changed since the run before it.",
            discussion:
                "PLACE is a folder, or db:NAME for a database of the deployment. shipshape history shows the trend.",
            valueName: "place"), completion: .directory, transform: HistoryPlace.init(parsing:))
    var history: HistoryPlace?

    @Flag(
        help: ArgumentHelp(
            "A finding with more than three times its usual number of documents also fails the check.",
            discussion: "The usual number is the median of the last seven checks; --history keeps them."))
    var failOnAnomaly = false

    @OptionGroup var failing: FailingFlags

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        if failOnAnomaly, history == nil {
            throw ValidationError("--fail-on-anomaly needs --history: without earlier checks, nothing is usual")
        }
    }
}
