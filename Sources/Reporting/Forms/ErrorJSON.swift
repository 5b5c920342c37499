/// An error for machines: one JSON object on one line.
package enum ErrorJSON {
    /// - Parameters:
    ///   - code: the program's exit code.
    ///   - kind: the same in a word, such as `bad_input`.
    ///   - message: what, where, and how to mend it.
    package static func line(code: Int, kind: String, message: String) -> String {
        let error: [(String, ReportValue)] = [
            ("exit_code", .integer(code)), ("kind", .string(kind)), ("message", .string(message)),
        ]
        return ReportValue.object(JSONReport.head() + [("error", .object(error))]).line
    }
}
