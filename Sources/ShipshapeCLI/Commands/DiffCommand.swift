internal import ArgumentParser
internal import BSON
internal import Check
internal import Concurrency
internal import Files
internal import Mongo
internal import Privileges
internal import Reporting
internal import Scanning
internal import SchemaChange
internal import ServerSchema

struct DiffCommand: ConnectedCommand, ExcludingCommand {
    static let configuration = CommandConfiguration(
        "diff", "(<old> <new> | <new> --against <old>)",
        abstract: "Shows what changed between two schemas, what it breaks, and what to do.",
        examples: [
            "diff schemas/v1 schemas/v2 --uri mongodb://db1/",
            "diff HEAD:prisma prisma",
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
            is never guessed: state it in the list renames of shipshape.yml, or for Prisma with @map. If a \
            deployment is configured, diff counts the documents that each change affects, and a change that a \
            verified partner collection serves is not breaking. Nothing is written. Exit code 1 means that changes \
            are breaking; --fail-on changes this.

            With --against, NEW is compared with each version that clients in the field may have, and \
            each has its own verdict. A property whose description has @deprecated 2027-03-31 may be removed after \
            that day; before it, the removal is a breaking change, too.
            """)

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

    @Option(
        help: ArgumentHelp(
            "An older version that NEW is compared with, in place of OLD (repeatable): each has its own verdict.",
            valueName: "schema"))
    var against: [SchemaArgument] = []

    @OptionGroup(title: "Exceptions") var accepting: AcceptFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var offline: OfflineFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    static let exclusions: [Exclusion<Self>] = {
        let accept = Given("--accept") { $0.accepting.accept != nil }
        let expires = Given("--expires") { $0.accepting.expires != nil }
        return [
            .needs(expires, accept, "say the reason with it"),
            .needs(accept, expires, "name the last day, such as 2027-01-31, or never"),
        ]
    }()

    func validate() throws {
        try checkExclusions()
        if let collection, Namespace(collection) == nil {
            throw ValidationError("--collection: \"\(collection)\" is not DATABASE.COLLECTION")
        }
        if failOn == .new {
            throw ValidationError("--fail-on new counts documents, which diff does not check: give it to check")
        }
        if !against.isEmpty {
            guard old != nil, new == nil else {
                throw ValidationError("--against names the older schemas: name only NEW besides them")
            }
            let isAnyLive = old?.isLive == true || against.contains(where: \.isLive)
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

    func work() throws -> Work {
        let statement = try accepting.statement()
        return Work(
            "diff", output: output, reads: [old?.name, new?.name, Exceptions().path] + against.map(\.name)
        ) { frame in
            guard let old, let new else { return try await compareVersions(statement) }
            let schemas = try await schemas(old, new)
            var report = try report(schemas, renames: Settings.current.renames, isAccepting: statement != nil)
            if offline.asks { try await weigh(&report, in: frame) }
            var outcome = CommandOutcome.result(DiffResult(report), report.hasFailed ? ExitStatus.findings : nil)
            outcome.after = { [report] in
                if !output.quiet, output.output == .text {
                    offline.note("count the documents that each change affects")
                }
                try accept([report], statement)
            }
            return outcome
        }
    }

    /// Compares the newer schema with each older version that `--against` or `--versions` names.
    private func compareVersions(_ statement: ExceptionStatement?) async throws -> CommandOutcome {
        guard let new = old else { preconditionFailure("the command line names the newer schema") }
        let stated = Settings.current.renames
        var unused = Set(stated.filter { $0.location == nil }.map(\.old))
        var reports: [DiffReport] = []
        for version in against {
            let schemas = try await schemas(version, new)
            // A version that is newer than a rename already has the new name. Each comparison therefore uses only the
            // renames that fit its two schemas.
            let shown = stated.filter {
                (try? schemas.diff(renames: [$0], isVersioned: AppSettings.isVersioned)) != nil
            }
            unused.subtract(shown.map(\.old))
            reports.append(try report(schemas, renames: shown, isAccepting: statement != nil))
        }
        if let name = unused.sorted().first {
            throw UsageError("SHIPSHAPE_RENAMES: none of the versions and \(new.name) show the rename \(name)=…")
        }
        let result = DiffVersionsResult(reports, to: new.name)
        var outcome = CommandOutcome.result(result, result.hasFailed ? ExitStatus.findings : nil)
        outcome.after = { [reports] in try accept(reports, statement) }
        return outcome
    }

    private func schemas(_ old: SchemaArgument, _ new: SchemaArgument) async throws -> ComparedSchemas {
        try await ComparedSchemas(
            old, new, collection: collection, needsDatabase: offline.asks && against.isEmpty, connection: connection)
    }

    private func report(_ schemas: ComparedSchemas, renames: [Rename], isAccepting: Bool) throws -> DiffReport {
        var report = try schemas.diff(renames: renames, isVersioned: AppSettings.isVersioned)
        report.changes += SchemaDiff.earlyRemovals(in: report.changes, today: Exceptions.today)
        report.failOn =
            switch failOn {
            case .breaking, .new: .breaking
            case .any: .any
            case .none: .none
            }
        try Exceptions().read(into: &report, isWritten: isAccepting)
        return report
    }

    /// If the user gives `--accept`, adds an exception to the file of exceptions for each schema change that makes the
    /// command fail.
    private func accept(_ reports: [DiffReport], _ statement: ExceptionStatement?) throws {
        guard let statement else { return }
        let failing = reports.flatMap { report in report.changes.filter(report.fails) }
        try Exceptions().accept(failing.map(NewException.init), statement)
    }

    private func weigh(_ report: inout DiffReport, in frame: Frame) async throws {
        let changes = report.changes
        let pool = try await frame.pool(
            for: "diff", on: WorkPlaces(reading: Set(changes.compactMap(\.oldNamespace)).sorted()))
        report.source = pool.redactedURI
        report.weights = try await onOwnedThread(name: "weigh") { () throws in
            try ChangeCensus(changes).weights(on: try pool.client())
        }
        try await KeyCensus(isStopped: { [stop = frame.stop] in stop.isRaised }).weigh(&report, on: pool)
        report.serve(by: try await report.partners(in: StateDatabase.name, on: pool))
    }
}

/// Counts the documents that each schema change affects before the new schema is deployed; reads a collection once.
struct ChangeCensus {
    private let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// Returns the counts of documents for each change, in the order of the changes; `nil` for a change that affects no
    /// collection of the old schema.
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
