internal import ArgumentParser
internal import BSON
internal import Checking
internal import Foundation
internal import Reporting
internal import SchemaChange
internal import ServerSchema

/// The flags for settings of the app that its export does not contain.
///
/// These settings affect which documents sync.
struct AppFlags: ParsableArguments {
    /// Whether a switch of the app is on or off.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(
        help: ArgumentHelp(
            "Whether mixed values may be arrays and objects: off for apps created before 2024-05-28.",
            valueName: "on|off"))
    var mixedCollections = Switch.on

    /// The assumptions about the app, from the flags.
    var assumptions: CheckOptions {
        var options = CheckOptions()
        options.allowsMixedCollections = mixedCollections == .on
        return options
    }
}

/// The flags of a check that state assumptions about the app, that count collections to which clients only write, and
/// that report broken links.
struct DialectFlags: ParsableArguments {
    @OptionGroup(title: "The App") var app: AppFlags

    @Option(
        help: ArgumentHelp(
            "Also check null in optional fields by the app's null-type switch, as data-access validation does: off "
                + "makes null a possible failure, on allows it. Sync itself allows null, so it is not reported without "
                + "this option.", valueName: "on|off"))
    var nullTypes: AppFlags.Switch?

    @Flag(
        help: ArgumentHelp(
            "Count collections that clients only write to in the verdict; they are always reported."))
    var includeAsymmetric = false

    @Flag(
        help: ArgumentHelp(
            "Also report links to documents that do not exist or do not sync; slower. They never fail a check."))
    var followLinks = false

    /// The assumptions of the check about the app, from the flags.
    var assumptions: CheckOptions {
        var options = app.assumptions
        options.refusesNulls = nullTypes == .off
        options.countsAsymmetric = includeAsymmetric
        return options
    }
}

/// The flag for the database of a Prisma schema, which names only collections.
struct DatabaseFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The database of a Prisma schema, or of check --engine without a schema; default: the one in the path of "
                + "the connection string.",
            discussion:
                "If that names no database, the path of the url in the schema's datasource does. No command connects "
                + "by that url.",
            valueName: "name"))
    var database: String?

    func validate() throws {
        guard let database, Namespace("\(database).a")?.database != database else { return }
        throw ValidationError("--database: \(database.quotedAsJSON) cannot be the name of a database")
    }

    /// Returns the database for a Prisma schema: the one that `--database`, `namespace` or the connection string names.
    ///
    /// Returns `nil` if none of them names a database. Then only the schema's own datasource can name it.
    /// - Parameter namespace: the collection that the operator names.
    func database(of namespace: Namespace?, _ connection: ConnectionFlags) -> String? {
        database ?? namespace?.database ?? connection.databaseOfURI
    }

    /// Returns a note that `--database` has no effect; `nil` if the flag has an effect, or is not given.
    func note(on schema: ServerSchema) -> String? {
        guard database != nil, schema.dialect != .prisma else { return nil }
        return "--database has no effect: the schema is \(ComparisonFlags.name(of: schema.dialect))"
    }
}

/// The flag that states renames between two schemas.
///
/// A rename that is not stated counts as a removal and an addition.
struct RenameFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A rename between OLD and NEW (repeatable): a property by its type or collection, "
                + "Person.age=yearsSinceBirth or app.Person.address.zip=postcode; a type, Person=Human; a collection, "
                + "app.Person=crm.Person.",
            discussion:
                "Without it, a rename counts as a removal and an addition; diff reports pairs that look like a rename. "
                + "The list renames in shipshape.yml holds renames, too.",
            valueName: "old=new"), completion: .fields)
    var rename: [String] = []

    func validate() throws {
        for text in rename {
            do { _ = try Rename(text) } catch { throw ValidationError("--\(error)") }
        }
    }

    /// Returns the renames from the flags, followed by those from the configuration.
    ///
    /// A rename in the configuration is left out if a flag renames the same name.
    /// - Throws: ``RenameError``.
    func read() throws -> [Rename] {
        let stated = try rename.map { try Rename($0) }
        let kept = Settings.current.file.renames
        return stated + kept.filter { entry in !stated.contains { $0.old == entry.old } }
    }
}

/// The flag for the file of findings that the operator accepts.
struct ExceptionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of accepted findings, or none; default: \(ExceptionsFile.standardName), if present.",
            discussion: """
                A list of {collection, path, rule, fingerprint, reason, owner, expires}. Findings that it covers are \
                shown but do not fail the command. With a fingerprint, an exception covers only the types that were \
                accepted. The projection still counts excepted documents, because the server knows no exceptions. An \
                exception that has expired (after that day, in UTC) is itself a finding of check.
                """,
            valueName: "file"), completion: .file())
    var exceptions: String?

    /// Reads the operator's exceptions; `nil` if there is no file.
    /// - Parameter isWritten: whether the command adds exceptions to the file. If `true`, the file need not exist.
    /// - Throws: ``LocatedError``.
    func read(
        for schemas: [CompiledSchema], of app: ServerSchema, isPart: Bool, isWritten: Bool = false
    ) throws -> ExceptionList? {
        guard let path = isWritten ? presentPath : path else { return nil }
        let exceptions = try ExceptionsFile.read(at: path, for: schemas).findings
        return ExceptionList(file: path, exceptions, for: app, isPart: isPart, today: Self.today)
    }

    /// Reads the accepted schema changes from the file of exceptions, and adds them to a report.
    /// - Parameter isWritten: whether the command adds exceptions to the file. If `true`, the file need not exist.
    /// - Throws: ``LocatedError``.
    func read(into report: inout DiffReport, isWritten: Bool) throws {
        guard let path = isWritten ? presentPath : path else { return }
        let changes = try ExceptionsFile.read(at: path).changes
        report.accepted = changes.filter { !$0.acceptance.isExpired(on: Self.today) }
        report.expired = changes.filter { $0.acceptance.isExpired(on: Self.today) }
    }

    /// The path of the file of exceptions: the one that `--exceptions` names, or else the default file.
    ///
    /// `nil` with `--exceptions none`, or if no file is named and the default file does not exist.
    var path: String? {
        switch exceptions {
        case "none"?: nil
        case let named?: named
        case nil:
            FileManager.default.fileExists(atPath: ExceptionsFile.standardName) ? ExceptionsFile.standardName : nil
        }
    }

    /// The path of the file of exceptions, like ``path``, but `nil` if the file does not exist.
    private var presentPath: String? { path.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil } }

    /// Returns the path of the file to which new exceptions are written, after checking that it can be written.
    /// - Throws: ``UsageError`` for `--exceptions none`; ``OutputError``.
    func writablePath() throws -> String {
        guard exceptions != "none" else {
            throw UsageError("--accept does not go with --exceptions none: name the file to write, or leave it out")
        }
        let path = exceptions ?? ExceptionsFile.standardName
        do { try AtomicFile.checkWritable(path) } catch {
            throw OutputError(description: "cannot write the exceptions \(path): \(error)")
        }
        return path
    }

    /// The current day in UTC, as `YYYY-MM-DD`.
    static var today: String { Date.now.formatted(.iso8601.year().month().day()) }
}
