internal import ArgumentParser
internal import Checking
internal import Foundation
internal import Reporting
internal import SchemaChange
internal import ServerSchema

/// The properties of the app that no export states, and that decide which documents sync.
struct AppFlags: ParsableArguments {
    /// The position of a switch of the app.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(
        help: ArgumentHelp(
            "Whether mixed values may be arrays and objects: off for apps created before 2024-05-28.",
            valueName: "on|off"))
    var mixedCollections = Switch.on

    /// The assumptions about the app.
    var assumptions: CheckOptions {
        var options = CheckOptions()
        options.allowsMixedCollections = mixedCollections == .on
        return options
    }
}

/// The assumptions of a check about the app, and what it looks into as well as the documents.
struct DialectFlags: ParsableArguments {
    @OptionGroup(title: "The App") var app: AppFlags

    @Option(
        help: ArgumentHelp(
            "Also ask what data-access validation says of null in optional fields, given the app's null-type switch: off "
                + "makes it a possible failure, on allows it. Sync itself allows it, which is what is checked without "
                + "this option.", valueName: "on|off"))
    var nullTypes: AppFlags.Switch?

    @Flag(
        help: ArgumentHelp(
            "Let collections that clients only write to count in the verdict; they are reported in any case."))
    var includeAsymmetric = false

    @Flag(
        help: ArgumentHelp(
            "Look up what links lead to, and report the links to documents that do not exist or do not sync; slower. "
                + "Such links never fail a check."))
    var followLinks = false

    /// The assumptions of the check.
    var assumptions: CheckOptions {
        var options = app.assumptions
        options.refusesNulls = nullTypes == .off
        options.countsAsymmetric = includeAsymmetric
        return options
    }
}

/// The removals and additions that are renames.
struct RenameFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A rename between OLD and NEW (repeatable): a property by its type or collection, Person.age=yearsSinceBirth "
                + "or app.Person.address.zip=postcode; a type, Person=Human; a collection, app.Person=crm.Person.",
            discussion:
                "Without it they are a removal and an addition; diff says where these look like a rename. The list "
                + "renames of shipshape.yml holds the same.",
            valueName: "old=new"))
    var rename: [String] = []

    func validate() throws {
        for text in rename {
            do { _ = try Rename(text) } catch { throw ValidationError("--\(error)") }
        }
    }

    /// Returns the renames from flags and configuration; those of the flags come first, and override the others.
    /// - Throws: ``RenameError``.
    func read() throws -> [Rename] {
        let stated = try rename.map { try Rename($0) }
        let kept = Settings.current.file.renames
        return stated + kept.filter { entry in !stated.contains { $0.old == entry.old } }
    }
}

/// The findings that the operator accepts.
struct ExceptionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of findings that are accepted, or none; default: \(ExceptionsFile.standardName), if it is there.",
            discussion: """
                A list of {collection, path, rule, reason, owner, expires}. What it covers is shown and does not fail the \
                check; the projection counts it all the same, since the server knows no exceptions. One that has expired \
                (after that day, in UTC) is a finding itself.
                """,
            valueName: "file"), completion: .file())
    var exceptions: String?

    /// Reads the exceptions; `nil` if there is no file.
    /// - Throws: ``LocatedError``.
    func read(for schemas: [CompiledSchema], of app: ServerSchema, isPart: Bool) throws -> ExceptionList? {
        guard let path else { return nil }
        let exceptions = try ExceptionsFile.read(at: path, for: schemas)
        return ExceptionList(file: path, exceptions, for: app, isPart: isPart, today: Self.today)
    }

    /// The file; `nil` if there is none.
    var path: String? {
        switch exceptions {
        case "none"?: nil
        case let named?: named
        case nil:
            FileManager.default.fileExists(atPath: ExceptionsFile.standardName) ? ExceptionsFile.standardName : nil
        }
    }

    /// The day in UTC, as `YYYY-MM-DD`.
    private static var today: String { Date.now.formatted(.iso8601.year().month().day()) }
}

/// The output in addition to the report that gives evidence for it.
struct EvidenceFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write every failing document with all that is wrong with it, as JSON lines; the last line is the result.",
            valueName: "file"), completion: .file())
    var failures: String?

    @Flag(help: "Show the filter of each group of documents, for mongosh; files of --report hold them in any case.")
    var filters = false

    @Flag(
        help: ArgumentHelp(
            "Count each group's filter on the server, and show where it differs from the scan.",
            discussion: "Reads the collection again, once per 25 groups."))
    var prove = false

    func validate() throws {
        if failures == "-" {
            throw ValidationError("--failures -: standard output is the report's (name a file, or a pipe: /dev/fd/3)")
        }
    }

    /// Opens the file of failing documents; `nil` if none was asked for.
    /// - Throws: ``OutputError``.
    func openFailures(_ ids: IDDisplay) throws -> (file: FailuresFile, lines: FailureLines)? {
        guard let failures else { return nil }
        let lines = FailureLines(ids: ids)
        let file = try FailuresFile(failures)
        file.add(lines.header)
        return (file, lines)
    }
}
