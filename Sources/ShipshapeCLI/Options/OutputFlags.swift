internal import ArgumentParser
internal import Reporting
internal import SystemPackage

/// The flags for the output format of a command's result, and for the files that it is also written to.
struct ReportFlags<Form: ReportForm>: ParsableArguments {
    @Option(name: .shortAndLong, help: "The form of the result on standard output.")
    var output = Form.text

    @Option(
        help: ArgumentHelp(
            "Also write the result to a file, whose ending names the form: \(Form.endings) (repeatable).",
            valueName: "file"), completion: .file())
    var report: [String] = []

    @Flag(name: .long, help: "Show no progress.")
    var noProgress = false

    @Flag(
        name: .shortAndLong,
        help: "Show no progress and no notes; waits, warnings and errors are still shown.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "The form of standard error: lines of text, or one JSON record per line.", valueName: "text|json"))
    var logFormat = Log.Format.text

    @OptionGroup var color: ColorFlags

    /// Whether a program or a file gets the result, so that counts must not be left out to save a scan.
    var isKept: Bool { output != .text || !report.isEmpty }

    /// Whether progress is shown.
    var showsProgress: Bool { !noProgress && !quiet }

    func validate() throws {
        for path in report where Self.form(of: path) == nil {
            throw ValidationError("--report \(path): the ending must be \(Form.endings)")
        }
        if Set(report).count < report.count { throw ValidationError("--report names the same file twice") }
    }

    /// Checks, before a long run, that the report files can be written and that none of them is a file that the command
    /// reads.
    /// - Parameters:
    ///   - inputs: the files and folders that the command reads.
    ///   - others: the other files that the command writes.
    func prepare(reading inputs: [String?] = [], writing others: [String?] = []) throws {
        try OutputPlaces.check(report + others.compactMap(\.self), reading: inputs.compactMap(\.self))
        for path in report {
            do { try AtomicFile.checkWritable(path) } catch { throw OutputError(report: path, error) }
        }
    }

    /// Shows a result on standard output and writes the files that the operator asked for.
    ///
    /// If a file cannot be written, the result and the other files are still written.
    /// - Parameter render: returns the result in an output format. It gets the width of the terminal in columns (`nil`
    ///   for a file), and whether to use colour.
    func show(_ render: (Form, _ width: Int?, _ color: Bool) throws -> String) throws {
        let hasColor = output == .text && Console.wantsColor(onTerminal: Console.isOutputTerminal)
        try show(onTerminal(try render(output, Console.outputWidth, hasColor), isColored: hasColor)) {
            try render($0, nil, false)
        }
    }

    /// Returns a text as it is shown on standard output: made safe, and fitted to the width of a terminal.
    func onTerminal(_ text: String, isColored: Bool) -> String {
        let text = Self.safe(text, as: output, isColored: isColored)
        return output == .text ? text.fitted(to: Console.outputWidth) : text
    }

    /// Returns a text that is safe to show: in the output format `text`, control characters are escaped.
    ///
    /// The other formats have escaping rules of their own, so their texts stay unchanged.
    static func safe(_ text: String, as form: Form, isColored: Bool = false) -> String {
        form == .text ? TerminalText.safe(text, isColored: isColored) : text
    }

    /// Shows a text on standard output and writes the report files.
    /// - Parameter render: returns the text for a file in an output format.
    func show(_ text: String, reporting render: (Form) throws -> String) throws {
        var failures: [any Error] = []
        for path in report {
            guard let form = Self.form(of: path) else { continue }
            let text = Self.safe(try render(form), as: form)
            do { try Self.write(text, to: path) } catch { failures.append(error) }
        }
        try Console.result(text)
        if let failure = failures.first { throw failure }
    }

    private static func form(of path: String) -> Form? { FilePath(path).extension.flatMap { Form(ending: $0) } }

    private static func write(_ text: String, to path: String) throws {
        do {
            try AtomicFile.write((text.hasSuffix("\n") ? text : text + "\n").utf8, to: path)
        } catch {
            throw OutputError(report: path, error)
        }
    }
}

extension OutputError {
    fileprivate init(report path: String, _ reason: any Error) {
        self.init(description: "cannot write the report \(path): \(reason)")
    }
}
