internal import ArgumentParser
internal import Foundation
internal import ServerSchema

/// The flags that name the file of exceptions, and the flags that add findings to this file, so that these findings no
/// longer make the command fail.
struct AcceptFlags: ParsableArguments {
    @OptionGroup(title: "Exceptions") var exceptions: ExceptionFlags

    @Flag(
        help: ArgumentHelp(
            "Accept the findings that fail this run: write them to the file of exceptions (--reason, --expires).",
            discussion: "This run still ends with exit code 1; the next one does not fail because of these findings."))
    var accept = false

    @Option(help: ArgumentHelp("With --accept: the reason why the findings are accepted.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("With --accept: the last day, such as 2027-01-31, or never.", valueName: "day|never"))
    var expires: String?

    @Option(
        help: ArgumentHelp(
            "With --accept: the person or team that answers for it; default: your login name.", valueName: "name"))
    var owner: String?

    func validate() throws {
        let others = [("--reason", reason != nil), ("--expires", expires != nil), ("--owner", owner != nil)]
        guard accept else {
            if let (flag, _) = others.first(where: \.1) { throw ValidationError("\(flag) needs --accept") }
            return
        }
        guard let reason, !reason.isEmpty, let expires else {
            throw ValidationError("--accept needs --reason TEXT and --expires DAY (or --expires never)")
        }
        guard expires == Self.never || CalendarDay.isDay(expires) else {
            throw ValidationError("--expires \(expires): it must be a day such as 2027-01-31, or never")
        }
        guard owner?.isEmpty != true, loginName != nil || owner != nil else {
            throw ValidationError("--accept needs --owner NAME: the login name is not known")
        }
    }

    private static let never = "never"

    private var loginName: String? {
        let environment = ProcessInfo.processInfo.environment
        return ["USER", "LOGNAME"].compactMap { environment[$0] }.first { !$0.isEmpty }
    }

    /// Checks, before a long run, that the day of `--expires` has not passed and that the file of exceptions can be
    /// written.
    /// - Throws: ``UsageError``; ``OutputError``.
    func prepare() throws {
        guard accept else { return }
        if let expires, expires != Self.never, expires < ExceptionFlags.today {
            throw UsageError("--expires \(expires) has passed: name a later day")
        }
        _ = try exceptions.writablePath()
    }

    /// The reason, the owner and the last day of new exceptions, as the flags state them; `nil` without `--accept`.
    var statement: ExceptionStatement? {
        guard accept, let reason, let owner = owner ?? loginName else { return nil }
        return ExceptionStatement(reason: reason, owner: owner, expires: expires == Self.never ? nil : expires)
    }
}
