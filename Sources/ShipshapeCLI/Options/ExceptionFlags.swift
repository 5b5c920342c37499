internal import ArgumentParser
internal import Checking
internal import Foundation
internal import ServerSchema

/// Which findings are accepted.
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

    /// Reads the exceptions; `nil` when there is no file.
    /// - Throws: ``LocatedError``.
    func read(for schemas: [CompiledSchema], of app: ServerSchema, isPart: Bool) throws -> ExceptionList? {
        guard let path else { return nil }
        let exceptions = try ExceptionsFile.read(at: path, for: schemas)
        return ExceptionList(file: path, exceptions, for: app, isPart: isPart, today: Self.today)
    }

    /// The file; `nil` when there is none.
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
