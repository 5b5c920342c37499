internal import ArgumentParser
internal import Check
internal import Files
internal import Foundation
internal import ServerSchema

/// The options that add the findings which fail a run to the file of exceptions, so that the next run does not fail
/// because of them.
struct AcceptFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Accept the findings that fail this run, for this reason: write them to the file of exceptions.",
            discussion: "This run still ends with exit code 1; the next one does not fail because of these findings.",
            valueName: "reason"))
    var accept: String?

    @Option(help: ArgumentHelp("With --accept: the last day, such as 2027-01-31, or never.", valueName: "day|never"))
    var expires: String?

    func validate() throws {
        if accept?.isEmpty == true { throw ValidationError("--accept: say the reason why the findings are accepted") }
        guard let expires else { return }
        guard expires == Self.never || CalendarDay.isDay(expires) else {
            throw ValidationError("--expires \(expires): it must be a day such as 2027-01-31, or never")
        }
    }

    private static let never = "never"

    /// The person or team that answers for the findings: the setting, else the login name.
    private var owner: String? {
        let environment = ProcessInfo.processInfo.environment
        let login = ["USER", "LOGNAME"].compactMap { environment[$0] }.first { !$0.isEmpty }
        return Settings.current[Known.owner] ?? login
    }

    /// The reason, the owner and the last day of new exceptions; `nil` without `--accept`.
    ///
    /// Commands read it before a long run, because it checks that the day has not passed, that an owner answers for the
    /// findings, and that the file of exceptions can be written.
    /// - Throws: ``UsageError``; ``OutputError``.
    func statement() throws -> ExceptionStatement? {
        guard let accept, let expires else { return nil }
        guard expires == Self.never || expires >= Exceptions.today else {
            throw UsageError("--expires \(expires) has passed: name a later day")
        }
        guard let owner else {
            throw UsageError("--accept needs the name of an owner: the login name is not known; set owner")
        }
        _ = try Exceptions().writablePath()
        return ExceptionStatement(reason: accept, owner: owner, expires: expires == Self.never ? nil : expires)
    }
}
