internal import ArgumentParser
internal import Reporting

/// What is told beside the report to back it.
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

    /// Begins the file of failing documents; `nil` when none is asked for.
    /// - Throws: ``OutputError``.
    func openFailures(_ ids: IDDisplay) throws -> (file: FailuresFile, lines: FailureLines)? {
        guard let failures else { return nil }
        let lines = FailureLines(ids: ids)
        let file = try FailuresFile(failures)
        file.add(lines.header)
        return (file, lines)
    }
}
