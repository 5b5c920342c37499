internal import ArgumentParser
internal import BSON
internal import Check
internal import JobState
internal import Jobs
internal import Reporting
internal import ServerSchema

/// The flags for output by which the user can verify findings: filters, and counts that the server makes.
struct EvidenceFlags: ParsableArguments {
    @Flag(help: "Show a mongosh filter for each group of documents; files of --report always contain them.")
    var filters = false

    @Flag(
        help: ArgumentHelp(
            "Count each group on the server by its filter, and show where that differs from the scan.",
            discussion: "This reads the collection again, once for every 25 groups."))
    var countGroups = false
}

/// The flag for the file of failing documents.
struct FailuresFileFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write every failing document and all its failures as JSON lines; the last line is the result.",
            valueName: "file"), completion: .file())
    var failures: String?

    func validate() throws { if failures == "-" { throw ValidationError(Self.refusal) } }

    /// The reason why the failing documents cannot go to standard output.
    static let refusal = "--failures -: standard output shows the report (name a file, or a pipe: /dev/fd/3)"

    /// Opens the file of failing documents; `nil` without `--failures`.
    /// - Throws: ``OutputError``.
    func open(_ ids: IDDisplay, in dialect: Dialect) throws -> (file: FailuresFile, lines: FailureLines)? {
        guard let failures else { return nil }
        let (lines, file) = (FailureLines(ids: ids, dialect: dialect), try FailuresFile(failures))
        file.add(lines.header)
        return (file, lines)
    }
}

/// The flags for the file and the collection of failing documents, and for output by which the user can verify
/// findings.
struct FailuresFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write every failing document and all its failures as JSON lines; the last line is the result.",
            discussion: """
                db:NAME.COLLECTION stores them in a collection of the deployment instead, with the ID and the time of \
                the run; never in a collection that is checked. Given twice, the flag names one of each.
                """,
            valueName: "file|db:name.collection"), completion: .file())
    var failures: [String] = []

    @OptionGroup(title: "Evidence") var evidence: EvidenceFlags

    @Flag(
        help: ArgumentHelp(
            "Compare verdicts on a validator with the server's own, for a sample of the documents.",
            discussion: """
                The sample has up to 10,000 documents of each collection, and takes about 5% of the time. On a server \
                version that this release was not tested on, this is always done. If a verdict differs, the exit code \
                is 70.
                """))
    var prove = false

    func validate() throws {
        if failures.contains("-") { throw ValidationError(FailuresFileFlags.refusal) }
        let collections = failures.filter { $0.hasPrefix(Self.prefix) }
        guard collections.count <= 1, failures.count - collections.count <= 1 else {
            throw ValidationError("--failures names one file and one collection at most")
        }
        if let named = collections.first { _ = try Self.collection(parsing: named) }
    }

    private static let prefix = "db:"

    /// The file for the failing documents; `nil` for none.
    var file: String? { failures.first { !$0.hasPrefix(Self.prefix) } }

    /// The collection for the failing documents; `nil` for none.
    var collection: Namespace? {
        failures.first { $0.hasPrefix(Self.prefix) }.flatMap { try? Self.collection(parsing: $0) }
    }

    /// Reads `db:NAME.COLLECTION`.
    /// - Throws: ``ValidationError``, also for a database that the server or the sync engine uses itself.
    static func collection(parsing text: String) throws -> Namespace {
        guard text.hasPrefix(prefix), let namespace = Namespace(String(text.dropFirst(prefix.count))) else {
            throw ValidationError("--failures \(text): write db:NAME.COLLECTION")
        }
        let system = namespace.collection.hasPrefix("system.") ? "it belongs to the server" : nil
        if let reason = StateDatabaseName.refusal(of: namespace.database) ?? system ?? namespace.refusal() {
            throw ValidationError("--failures \(text): \(reason)")
        }
        return namespace
    }

    /// Opens the file of failing documents; `nil` without `--failures`.
    ///
    /// If `--failures` names a collection, the lines are first written to a temporary file, because lines can be
    /// retracted until the end of the check.
    /// - Parameter spool: the path of the temporary file; `nil` if `--failures` names no collection.
    /// - Throws: ``OutputError``.
    func open(
        _ ids: IDDisplay, in dialect: Dialect, spool: String?
    ) throws -> (file: FailuresFile, lines: FailureLines)? {
        let named = try self.file.map { try FailuresFile($0) }
        guard let file = try spool.map({ try FailuresFile($0, copiedTo: named) }) ?? named else { return nil }
        let lines = FailureLines(ids: ids, dialect: dialect)
        file.add(lines.header)
        return (file, lines)
    }
}
