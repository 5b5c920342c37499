internal import Check
internal import Checking
internal import Files
internal import Foundation
internal import Reporting
internal import SchemaChange
internal import ServerSchema

/// The file of findings that the operator accepts.
///
/// A finding that the file covers is shown, but does not fail the command. With a fingerprint, an exception covers only
/// the types that were accepted. An exception that has expired (after its day, in UTC) is itself a finding of check.
struct Exceptions {
    /// The setting: a path, or `none`; `nil` if it is not set.
    private var stated: String? { Settings.current[Known.exceptions] }

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

    /// The path of the file of exceptions: the one that the setting names, or else the default file.
    ///
    /// `nil` with the setting `none`, or if no file is named and the default file does not exist.
    var path: String? {
        switch stated {
        case "none"?: nil
        case let named?: named
        case nil:
            FileManager.default.fileExists(atPath: ExceptionsFile.standardName) ? ExceptionsFile.standardName : nil
        }
    }

    /// The path of the file of exceptions, like ``path``, but `nil` if the file does not exist.
    private var presentPath: String? { path.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil } }

    /// Returns the path of the file to which new exceptions are written, after checking that it can be written.
    /// - Throws: ``UsageError`` if the setting is `none`; ``OutputError``.
    func writablePath() throws -> String {
        guard stated != "none" else {
            throw UsageError(
                "--accept needs a file of exceptions, but the setting exceptions is none: name a file, or leave it "
                    + "out")
        }
        let path = stated ?? ExceptionsFile.standardName
        do { try AtomicFile.checkWritable(path) } catch {
            throw OutputError(description: "cannot write the exceptions \(path): \(error)")
        }
        return path
    }

    /// The current day in UTC, as `YYYY-MM-DD`.
    static var today: String { Date.now.formatted(.iso8601.year().month().day()) }
}

extension Exceptions {
    /// Writes the exceptions to the file, and prints how many were accepted.
    func accept(_ new: [NewException], _ statement: ExceptionStatement) throws {
        let path = try writablePath()
        let count = try ExceptionsWriter(path, statement).add(new, today: Self.today)
        let end = statement.expires.map { " until \($0)" } ?? ""
        Console.error(
            count == 0
                ? "nothing to accept: this run has no failing finding that an exception can cover"
                : "accepted \(count.counted("finding"))\(end) in \(path)")
    }
}
