/// An error as JSON: one object on one line.
package enum ErrorJSON {
    /// Returns the JSON line of an error.
    /// - Parameters:
    ///   - code: the program's exit code.
    ///   - kind: the name of the exit code, such as `bad_input`.
    ///   - message: what is wrong, where, and how to fix it.
    package static func line(code: Int, kind: String, message: String) -> String {
        let error: ReportValue = ["exit_code": code, "kind": kind, "message": message]
        return (JSONReport.head() + ["error": error]).line
    }
}
