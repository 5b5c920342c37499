/// An error as JSON: one object on one line.
package enum ErrorJSON {
    /// Returns the JSON line of an error.
    /// - Parameters:
    ///   - code: the program's exit code.
    ///   - kind: the name of the exit code, such as `bad_input`.
    ///   - message: what is wrong, where, and how to fix it.
    package static func line(code: Int, kind: String, message: String) -> String {
        let error: [(String, ReportValue)] = [
            ("exit_code", .integer(code)), ("kind", .string(kind)), ("message", .string(message)),
        ]
        return ReportValue.object(JSONReport.head() + [("error", .object(error))]).line
    }
}
