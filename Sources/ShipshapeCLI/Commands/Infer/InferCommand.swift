internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Inferring
internal import Mongo
internal import Privileges
internal import Reporting
internal import ServerSchema

/// The command `shipshape infer`.
struct InferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "infer",
        abstract: "Proposes a schema that fits the existing documents.",
        examples: [
            "infer --collection app.person",
            "infer --source dump.archive --dialect jsonschema --out validators",
            "infer --database app --as prisma --out prisma/schema.prisma",
        ],
        details: """
            Reads the documents twice: to see what they contain, and to count those that the schema would refuse. The \
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

    @Option(help: ArgumentHelp("Read all collections of a database.", valueName: "name"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "Read documents from a dump or an export instead: a folder, a file, or - for standard input.",
            valueName: "path"), completion: .file())
    var source: String?

    @Option(
        name: [.customLong("dialect"), .customLong("as")],
        help: ArgumentHelp(
            "The dialect of the schema: appservices, jsonschema for a MongoDB validator, or prisma.",
            valueName: "appservices|jsonschema|prisma"))
    var dialect = DialectArgument.appservices

    @Option(
        help: ArgumentHelp("The share of the documents that the schema must accept.", valueName: "percent"))
    var cover = CoverArgument()

    @Flag(
        help: "Documents that only might fail, such as an int where a long is declared, count as refused.")
    var strict = false

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

    @OptionGroup(title: "Reading") var reading: InferReadingFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    /// A dialect, named as on the command line.
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

    func validate() throws {
        for name in collection where Namespace(name) == nil {
            throw ValidationError("--collection: \"\(name)\" is not DATABASE.COLLECTION")
        }
        if Set(collection).count < collection.count {
            throw ValidationError("--collection names the same collection twice")
        }
        if database != nil, !collection.isEmpty {
            throw ValidationError("--database excludes --collection: name the collections or the database")
        }
        if force, out == nil { throw ValidationError("--force needs --out") }
        guard source == nil else { return try validateSource() }
        if collection.isEmpty, database == nil {
            throw ValidationError("name what to read: --collection DB.COLL, --database DB or --source PATH")
        }
        if reading.seed != nil {
            throw ValidationError("--seed needs --source: the server takes no seed for its random choice")
        }
    }

    private func validateSource() throws {
        for (flag, isGiven) in [("--where", reading.filter != nil), ("--rate", reading.rate != nil)] where isGiven {
            throw ValidationError("\(flag) needs a live deployment: --source always reads all documents")
        }
    }

    private var options: InferOptions {
        var options = InferOptions()
        options.dialect = dialect.dialect
        options.cover = cover.share
        options.isStrict = strict
        options.hasEnums = enums
        return options
    }

    func run() async throws {
        let inputs = [source] + connection.files
        try output.prepare(reading: inputs)
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        let target = SchemaTarget(
            path: out, mayReplace: force, dialect: options.dialect,
            isInReport: [.json, .jsonl].contains(output.output),
            inputs: inputs.compactMap(\.self))
        let run = InferRun(
            options: options, reading: reading, namespaces: collection.compactMap { Namespace($0) }, database: database,
            target: target, showsProgress: output.showsProgress, stop: stop)
        let report: InferReport
        if let source {
            interruption.beginWork()
            report = try await run.infer(source: source)
        } else {
            let pool = try connection.pool()
            try await pool.requirePrivileges(for: database == nil ? "infer" : "infer --database", on: places)
            interruption.beginWork()
            report = try await run.infer(live: pool)
        }
        do { try target.write(SchemaFileText.of(report).map { ($0.namespace, $0.text) }) } catch {
            // The report took long to make, so it is shown even if the schema cannot be written.
            try? show(report)
            throw error
        }
        try show(report)
        if !report.isWithinCover { throw ExitStatus.findings }
    }

    private var places: WorkPlaces {
        var places = WorkPlaces(reading: collection.compactMap { Namespace($0) })
        for place in [Place.data, .database] { places.add(database.map { [.database($0)] } ?? [], to: place) }
        return places
    }

    private func show(_ report: InferReport) throws {
        let result = InferResult(report)
        guard out == nil, output.output == .text, let text = SchemaFileText.of(report).first?.text else {
            return try output.show(result)
        }
        if !output.quiet {
            let isColored = Console.wantsColor(onTerminal: Console.isInteractive)
            Console.write(result.text(TextLayout(isColored: isColored)), isColored: isColored)
        }
        try output.show(text, reporting: result)
    }
}
