internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import ServerSchema

/// The schema of a check, and the flags that select the documents to check: collections, databases or a dump.
struct CheckSubjectFlags: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The schema to check against: a file, a folder, or live; not needed with --engine.",
            discussion: "With --join, the reports of all parts of a check.", valueName: "schema"))
    var named: [SchemaArgument] = []

    @Flag(help: "Join the reports that check --part wrote into one report; no deployment is asked.")
    var join = false

    /// The schema: the one of the command line, or with the command line that of the configuration.
    var schema: SchemaArgument? { named.first }

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

/// The options that decide which findings a check reports and which make it fail, and where its counts are stored.
struct SeverityFlags: ParsableArguments {
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
            "Also report links to documents that do not exist or do not sync; slower. They fail a check only in a "
                + "required relation of Prisma."))
    var followLinks = false
}

enum FailingLimits {
    /// Returns a copy of `policy` with the limit `max-failing`, and the thresholds in `shipshape.yml`.
    static func added(to policy: FailurePolicy) -> FailurePolicy {
        var policy = policy
        policy.maximum = Settings.current[Known.maxFailing]
        policy.thresholds = Settings.current.file.thresholds
        return policy
    }

    /// Returns a note for each threshold in `shipshape.yml` whose collection the report does not cover.
    /// - Parameter isPart: whether the operator chose some of the collections. If so, only thresholds whose collection
    ///   is probably misspelt get a note.
    static func notes(for report: CheckReport, isPart: Bool) -> [String] {
        let names = report.collections.map(\.namespace)
        return Settings.current.file.thresholds.filter { !names.contains($0.namespace) }.compactMap { threshold in
            let hint = Spelling.hint(for: "\(threshold.namespace)", among: names.map(\.description))
            if isPart, hint == nil { return nil }
            return "\(threshold.location): the schema does not cover \(threshold.namespace)"
                + (hint.map { " (\($0))" } ?? "")
        }
    }
}
