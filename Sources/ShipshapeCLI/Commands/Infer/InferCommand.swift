internal import ArgumentParser
internal import BSON
internal import Check
internal import Files
internal import Inferring
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema

struct InferCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "schema infer",
        abstract: "Proposes a schema that fits the existing documents.",
        examples: [
            "schema infer --collection app.person",
            "schema infer --source dump.archive --as jsonschema --out validators",
            "schema infer --uri mongodb://db1/shop --as prisma --out shop.prisma",
        ],
        details: """
            Reads the collections that --collection names, or all of the database that the connection string or the \
            setting database names. Reads the documents twice: to see what they contain, and \
            to count those that the schema would refuse. The \
            schema accepts every document, or at least the share that --cover says, by leaving out rare types and \
            gaps, the rarest first. The report shows how many documents do not fit and why, and an upper limit for the \
            share of similar documents that will not fit. Nothing is written to the database.

            The schema goes to standard output and the report to standard error. With --out, the schema goes to a \
            file, or to a folder that check takes as SCHEMA, and the report to standard output. Fields are sorted by \
            name, after _id. Values of documents are never shown, except those that --enums lists. A Prisma schema \
            holds all collections of a database; it has no relations, and what no scalar type reads becomes Json.

            Exit code 1 means that no schema of the dialect accepts as many documents as --cover says.
            """)

    @Option(
        help: ArgumentHelp("A collection to read (repeatable).", valueName: "db.collection"),
        completion: .collections)
    var collection: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read documents from a dump or an export instead: a folder, a file, or - for standard input.",
            valueName: "path"), completion: .file())
    var source: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The dialect of the schema: appservices, jsonschema for a MongoDB validator, or prisma.",
            valueName: "appservices|jsonschema|prisma"))
    var dialect = DialectArgument.appservices

    @Option(
        help: ArgumentHelp("The share of the documents that the schema must accept.", valueName: "percent"))
    var cover = CoverArgument()

    @Flag(
        help: "Documents that only might fail, such as an int where a long is declared, count as refused.")
    var closed = false

    @Flag(
        help: ArgumentHelp(
            "List the values of fields with at most 12 values, each found 20 times on average; this shows values."
        ))
    var enums = false

    @Option(
        help: ArgumentHelp(
            "Write the schema to a file (one collection, ending .json; for Prisma, .prisma) or into a folder.",
            valueName: "path"), completion: .file())
    var out: String?

    @Flag(help: "Let --out replace existing files.")
    var force = false

    @OptionGroup(title: "Reading") var reading: ReadingFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    enum DialectArgument: String, ExpressibleByArgument, CaseIterable {
        case appservices, jsonschema, prisma

        var dialect: Dialect {
            switch self {
            case .appservices: .appServices
            case .jsonschema: .jsonSchema
            case .prisma: .prisma
            }
        }
    }

    static let exclusions: [Exclusion<Self>] = {
        let source = Given("--source") { $0.source != nil }
        return [
            .apart(
                source, Given("--where") { $0.reading.filter != nil },
                "a dump is read as a whole: leave one of them out"),
            .needs(
                Given("--force") { $0.force }, Given("--out") { $0.out != nil },
                "only files are replaced"),
        ]
    }()

    func validate() throws {
        try checkExclusions()
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
        if Set(collection).count < collection.count {
            throw ValidationError("--collection names the same collection twice")
        }
    }

    private var options: InferOptions {
        var options = InferOptions()
        options.dialect = dialect.dialect
        options.cover = cover.share
        options.isStrict = closed
        options.hasEnums = enums
        return options
    }

    func work() throws -> Work {
        Work("schema infer", output: output, reads: [source]) { try await run(in: $0) }
    }

    private func run(in frame: Frame) async throws -> CommandOutcome {
        let target = SchemaTarget(
            path: out, mayReplace: force, dialect: options.dialect,
            isInReport: [.json, .jsonl].contains(output.output),
            inputs: ([source] + connection.files).compactMap(\.self))
        let database = collection.isEmpty ? Settings.current.database : nil
        var documents = InferRun.Reading()
        (documents.filter, documents.sample) = (reading.filter, reading.sample)
        (documents.threads, documents.rate) = (Settings.current[Known.threads], Settings.current[Known.rate])
        let isShown = output.showsProgress
        let run = InferRun(
            options: options, reading: documents, namespaces: collection.compactMap { Namespace($0) },
            database: source == nil ? database : nil, target: target,
            makeProgress: { ProgressLine("infer", total: $0, isShown: isShown) }, stop: frame.stop)
        let report: InferReport
        if let source {
            frame.begin()
            report = try await run.infer(source: source)
        } else {
            guard database != nil || !collection.isEmpty else {
                throw UsageError(
                    "name what to read: --collection DB.COLL, --source PATH, or a database in the connection string or "
                        + "the setting database")
            }
            let pool = try await frame.pool(
                for: database == nil ? "schema infer" : "schema infer --database", on: places(database))
            frame.begin()
            report = try await run.infer(live: pool)
        }
        var outcome = outcome(report)
        do { try target.write(SchemaFileText.of(report).map { ($0.namespace, $0.text) }) } catch {
            // The report took long to make, so it is shown even if the schema cannot be written.
            outcome.status = error
        }
        return outcome
    }

    private func places(_ database: String?) -> WorkPlaces {
        var places = WorkPlaces(reading: collection.compactMap { Namespace($0) })
        for place in [Place.data, .database] { places.add(database.map { [.database($0)] } ?? [], to: place) }
        return places
    }

    private func outcome(_ report: InferReport) -> CommandOutcome {
        var outcome = CommandOutcome.result(report, report.isWithinCover ? nil : ExitStatus.findings)
        guard out == nil, output.output == .text, let text = SchemaFileText.of(report).first?.text else {
            return outcome
        }
        outcome.showNextToText(report, text, isQuiet: output.quiet)
        return outcome
    }
}
