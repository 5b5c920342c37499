internal import ArgumentParser
internal import BSON
internal import Check
internal import Concurrency
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema

struct LintCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        "lint", "[<schema>]",
        abstract: "Checks a schema for problems that prevent syncing or are likely to cause trouble.",
        examples: [
            "lint schemas/v2",
            "lint schemas/v2 --strict --uri mongodb://db1/",
        ],
        details: """
            SCHEMA is an App Services app folder, one schema.json, a MongoDB validator file, a schema.prisma or a \
            folder of .prisma files, or live: the validators that the collections have now. Fewer rules apply to \
            validators, and Prisma schemas have rules of their own. No document is read. If a deployment is \
            configured, lint also checks it: its kind and version, time series collections and validators. Exit code \
            1 means that there are errors.
            """)

    @Argument(help: "The schema to check: a file, a folder, or live.")
    var schema = SchemaArgument.configured

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with an app folder, the only one to report.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Flag(help: "Warnings give exit code 1, too.")
    var strict = false

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var offline: OfflineFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
    }

    func work() throws -> Work {
        try schema.checkNamed(for: "lint")
        return Work("lint", schema.name, output: output, reads: [schema.name]) { try await run(in: $0) }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let only = collection.flatMap { Namespace($0) }
        let serverSchema = try await schema.readForLint(namespace: only, connection: connection)
        // For a Prisma schema, the connection string only names the database, so no facts are read from the deployment.
        let needsFacts = offline.asks && serverSchema.dialect != .prisma
        let facts = needsFacts ? try await facts(of: serverSchema, in: frame) : nil
        let report = LintReport(
            source: schema.name, schema: serverSchema,
            findings: SchemaLint.findings(in: serverSchema, deployment: facts), only: only)
        let fails = report.count(of: .error) > 0 || strict && report.count(of: .warning) > 0
        var outcome = CommandOutcome.result(LintResult(report, isStrict: strict), fails ? ExitStatus.findings : nil)
        outcome.after = {
            guard !output.quiet, output.output == .text, !schema.isLive else { return }
            offline.note("check the deployment, too")
        }
        return outcome
    }

    private func facts(of schema: ServerSchema, in frame: Frame) async throws -> DeploymentFacts {
        let namespaces = schema.collections.map(\.namespace)
        let pool = try await frame.pool(for: "lint", on: WorkPlaces(reading: namespaces))
        return try await onOwnedThread(name: "facts") { () throws in
            try DeploymentFacts.gather(namespaces, on: try pool.client(), source: pool.redactedURI)
        }
    }
}
