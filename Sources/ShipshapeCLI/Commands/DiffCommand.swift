internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

/// The command `shipshape diff OLD NEW`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "diff", "(<old> <new> | <new> --against <old>)",
        abstract: "Shows what changed between two schemas, what it breaks, and what to do.",
        examples: [
            "diff schemas/v1 schemas/v2 --uri mongodb://db1/",
            "diff HEAD:prisma prisma --database shop",
            "diff schemas/v3 --against schemas/v1 --against schemas/v2",
        ],
        details: """
            OLD and NEW are each an App Services app folder, one schema.json, a folder of them, a MongoDB validator \
            file, a schema.prisma or a folder of .prisma files, live (the validators that the collections have now), \
            or one of these in a git revision, such as HEAD~1:schemas. If a file or folder has exactly that name, it \
            is used instead of the revision.

            Each change has two verdicts, as the documentation of Device Sync defines them: one for the server, one \
            for the clients in the field. A change of a validator is breaking if documents that fitted may be refused, \
            and one of a Prisma schema if the new client fails on documents of the old one, or the reverse. A rename \
            is never guessed: state it with --rename, or for Prisma with @map. With --uri, diff counts the documents \
            that each change affects, and a change that a verified partner collection serves is not breaking; \
            SHIPSHAPE_URI alone has no effect here. Nothing is written. Exit code 1 means that changes are breaking; \
            --fail-on changes this.

            With --against or --versions, NEW is compared with each version that clients in the field may have, and \
            each has its own verdict. A property whose description has @deprecated 2027-03-31 may be removed after \
            that day; before it, the removal is a breaking change, too.
            """)

    /// The changes that make the command exit with code 1.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case breaking, any, none

        fileprivate var policy: DiffReport.FailOn {
            switch self {
            case .breaking: .breaking
            case .any: .any
            case .none: .none
            }
        }
    }

    @Argument(help: "The older schema: a file, a folder, REVISION:PATH, or live; not with --against.")
    var old: SchemaArgument?

    @Argument(help: "The newer schema: a file, a folder, REVISION:PATH, or live.")
    var new: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "The collection that a single schema.json describes; with folders, the only one to compare.",
            valueName: "db.collection"),
        completion: .collections)
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "Which changes end diff with exit code 1: breaking, any or none.", valueName: "breaking|any|none"))
    var failOn = FailOn.breaking

    @Flag(
        help: ArgumentHelp(
            "For apps that deploy schema versions: count removals and changes between optional and required as "
                + "versioned, not as breaking."))
    var schemaVersioning = false

    @OptionGroup(title: "Versions") var versions: VersionFlags
    @OptionGroup(title: "Prisma") var database: DatabaseFlags
    @OptionGroup(title: "Renames") var renames: RenameFlags
    @OptionGroup(title: "Exceptions") var accepting: AcceptFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func validate() throws {
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if versions.areGiven {
            guard old != nil, new == nil else {
                throw ValidationError("--against and --versions name the older schemas: name only NEW besides them")
            }
            let isAnyLive = old?.isLive == true || versions.against.contains(where: \.isLive)
            guard connection.uri == nil || isAnyLive else {
                throw ValidationError("--uri counts the documents of one OLD: it does not go with several versions")
            }
        } else {
            guard let old, let new else {
                throw ValidationError(
                    "Missing expected argument '<\(self.old == nil ? "old" : "new")>': name OLD and NEW, or NEW with "
                        + "--against OLD")
            }
            guard !old.isLive || !new.isLive else {
                throw ValidationError("OLD and NEW are both live: there is nothing to compare")
            }
        }
    }

    func run() async throws {
        try output.prepare(
            reading: [old?.name, new?.name, accepting.exceptions.path] + versions.names + connection.files)
        try accepting.prepare()
        guard let old, let new else { return try await compareVersions() }
        let schemas = try await schemas(old, new)
        var report = try report(schemas, renames: try renames.read())
        if connection.uri != nil { try await weigh(&report) }
        try output.show(DiffResult(report))
        if !output.quiet, output.output == .text {
            connection.noteUnaskedDeployment(for: "diff", to: "count the documents that each change affects")
        }
        try accept([report])
        if report.hasFailed { throw ExitStatus.findings }
    }

    /// Compares the newer schema with each older version that `--against` or `--versions` names.
    private func compareVersions() async throws {
        guard let new = old else { preconditionFailure("the command line names the newer schema") }
        let stated = try renames.read()
        var unused = Set(stated.filter { $0.location == nil }.map(\.old))
        var reports: [DiffReport] = []
        for version in try versions.schemas() {
            let schemas = try await schemas(version, new)
            // A version that is newer than a rename already has the new name. Each comparison therefore uses only the
            // renames that fit its two schemas.
            let shown = stated.filter { (try? schemas.diff(renames: [$0], isVersioned: schemaVersioning)) != nil }
            unused.subtract(shown.map(\.old))
            reports.append(try report(schemas, renames: shown))
        }
        if let name = unused.sorted().first {
            throw UsageError("--rename \(name)=…: none of the versions and \(new.name) show this rename")
        }
        let result = DiffVersionsResult(reports, to: new.name)
        try output.show(result)
        try accept(reports)
        if result.hasFailed { throw ExitStatus.findings }
    }

    private func schemas(_ old: SchemaArgument, _ new: SchemaArgument) async throws -> ComparedSchemas {
        try await ComparedSchemas(old, new, collection: collection, database: database, connection: connection)
    }

    private func report(_ schemas: ComparedSchemas, renames: [Rename]) throws -> DiffReport {
        var report = try schemas.diff(renames: renames, isVersioned: schemaVersioning)
        report.changes += SchemaDiff.earlyRemovals(in: report.changes, today: ExceptionFlags.today)
        report.failOn = failOn.policy
        try accepting.exceptions.read(into: &report, isWritten: accepting.accept)
        report.notes += [database.note(on: schemas.new)].compactMap(\.self)
        return report
    }

    /// If the user gives `--accept`, adds an exception to the file of exceptions for each schema change that makes the
    /// command fail.
    private func accept(_ reports: [DiffReport]) throws {
        guard let statement = accepting.statement else { return }
        let failing = reports.flatMap { report in report.changes.filter(report.fails) }
        try accepting.exceptions.accept(failing.map(NewException.init), statement)
    }

    private func weigh(_ report: inout DiffReport) async throws {
        let pool = try connection.pool()
        let changes = report.changes
        try await pool.requirePrivileges(
            for: "diff", on: WorkPlaces(reading: Set(changes.compactMap(\.oldNamespace)).sorted()))
        report.source = pool.redactedURI
        report.weights = try await onOwnedThread(name: "weigh") { () throws in
            try ChangeCensus(changes).weights(on: try pool.client())
        }
        report.serve(by: try await report.partners(in: state.stateDatabase, on: pool))
    }
}

/// Counts, before the new schema is deployed, the documents that each schema change affects.
///
/// Each collection is read once.
struct ChangeCensus {
    private let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// Returns the counts of documents for each change, in the order of the changes; `nil` for a change that affects no
    /// collection of the old schema.
    /// - Throws: ``MongoError``.
    func weights(on client: borrowing Client) throws(MongoError) -> [ChangeWeight?] {
        var weights = [ChangeWeight?](repeating: nil, count: changes.count)
        for namespace in Set(changes.compactMap(\.oldNamespace)).sorted() {
            let indices = changes.indices.filter { changes[$0].oldNamespace == namespace }
            let paths = Array(Set(indices.map { changes[$0].oldPath }))
            let counts = try PathCensus(of: paths).counts(in: namespace, on: client)
            let byPath = Dictionary(zip(paths, counts)) { first, _ in first }
            for index in indices { weights[index] = byPath[changes[index].oldPath].map(ChangeWeight.init) }
        }
        return weights
    }
}

extension ChangeWeight {
    fileprivate init(_ count: PathCensus.Count) {
        let types = count.types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        self.init(
            documents: count.documents, withField: count.withField, withoutField: count.withoutField,
            types: types.map { TypeCount(type: $0.key, documents: $0.value) })
    }
}
