internal import ArgumentParser
internal import Files
internal import Reporting

/// The options for the form of a command's result, and for the report files to which it is written.
struct OutputFlags: ParsableArguments {
    @Option(name: .shortAndLong, help: "The form of the result on standard output.")
    var output = OutputForm.text

    @Option(
        help: ArgumentHelp(
            "Also write the result to a file, whose ending names the form: \(OutputForm.endings) (repeatable).",
            valueName: "file"), completion: .file())
    var report: [String] = []

    @Flag(
        name: .shortAndLong,
        help: "Show only the verdict, in a line; waits, warnings and errors are still shown.")
    var quiet = false

    /// Whether the result is in a format for programs or is also written to a report file.
    ///
    /// If `true`, all counts are needed, even counts for which a collection has to be scanned.
    var isKept: Bool { output != .text || !report.isEmpty }

    var showsProgress: Bool { !quiet }

    func validate() throws {
        for path in report where OutputForm(path: path) == nil {
            throw ValidationError("--report \(path): the ending must be \(OutputForm.endings)")
        }
        if Set(report).count < report.count { throw ValidationError("--report names the same file twice") }
    }

    /// Shows a result on standard output and writes the files that the operator asked for.
    func show(_ result: some Reportable) throws {
        let isColored = output == .text && Console.wantsColor(onTerminal: Console.isOutputTerminal)
        var layout = TextLayout(width: Console.outputWidth, isColored: isColored)
        layout.isPlain = !Console.speaksUnicode
        layout.isQuiet = quiet
        let text = output.text(of: result, layout)
        // A report file has the warnings already.
        if quiet, output == .text, report.isEmpty {
            for warning in result.report.warnings { Console.error("Note: \(warning)") }
        }
        try show(output == .text ? TerminalText.safe(text, isColored: isColored) : text, reporting: result)
    }

    /// Shows a text on standard output and writes the files that the operator asked for, even if one of them fails.
    func show(_ text: String, reporting result: some Reportable) throws {
        var failures: [any Error] = []
        for path in report {
            guard let form = OutputForm(path: path) else { continue }
            let text = form.text(of: result, .file)
            do {
                try Self.write(form == .text ? TerminalText.safe(text, isColored: false) : text, to: path)
            } catch { failures.append(error) }
        }
        try Console.result(text)
        if let failure = failures.first { throw failure }
    }

    private static func write(_ text: String, to path: String) throws {
        do {
            try AtomicFile.write(Console.terminated(text).utf8, to: path)
        } catch {
            throw OutputError(report: path, error)
        }
    }
}
