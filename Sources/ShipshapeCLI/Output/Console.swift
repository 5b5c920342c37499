internal import BSON
internal import Files
internal import Foundation
internal import Reporting
internal import Synchronization
internal import SystemPackage

/// The standard streams of the process: results go to standard output, everything else to standard error.
enum Console {
    /// Whether standard error is a terminal, on which progress is drawn and questions are asked.
    static let isInteractive = isatty(2) == 1
    /// Whether standard output is a terminal, on which colour can be used.
    static let isOutputTerminal = isatty(1) == 1
    /// Whether standard input is a terminal, at which the user can type an answer.
    static let isInputTerminal = isatty(0) == 1

    /// Whether the program can ask the user a question: standard input and standard error are terminals.
    static var canAsk: Bool { isInputTerminal && isInteractive }

    /// The width of the terminal that progress is drawn on, or 80 if it is unknown.
    static var width: Int { width(of: 2) ?? 80 }

    /// The width of the terminal that results go to; `nil` for a file or a pipe.
    static var outputWidth: Int? { isOutputTerminal ? width(of: 1) : nil }

    private static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Opens `/dev/null` for each closed standard stream, so that no result goes to a socket that got its number.
    static func secureStreams() {
        for (stream, mode) in [(Int32(0), O_RDONLY), (1, O_RDONLY), (2, O_WRONLY)] where fcntl(stream, F_GETFD) == -1 {
            // All lower descriptors are open, so `open` returns the number of the closed stream. For standard output,
            // `/dev/null` is opened only for reading, so that writing a result fails.
            _ = unsafe open("/dev/null", mode)
        }
        // With SIGXFSZ ignored, a write beyond the limit of `ulimit -f` fails as on a full disk: with exit code 73, and
        // without a half-written file.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// Whether the locale uses UTF-8.
    static var speaksUnicode: Bool {
        let environment = ProcessInfo.processInfo.environment
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.uppercased().replacing("-", with: "").contains("UTF8")
    }

    /// Writes a text for a person to standard output, with control characters escaped and a newline at its end.
    static func show(_ text: String, isColored: Bool = false) throws {
        try result(TerminalText.safe(text, isColored: isColored))
    }

    /// Writes a result to standard output, with a newline at its end.
    ///
    /// Control characters are not escaped here, because the format of the result has its own rules for escaping.
    static func result(_ text: String) throws {
        do {
            _ = try FileDescriptor.standardOutput.writeAll(terminated(text).utf8)
        } catch {
            throw OutputError(description: "cannot write to standard output: \(error)")
        }
    }

    /// Returns a result with a newline at its end.
    ///
    /// The last byte decides, because Swift treats a carriage return with a line feed as one character.
    static func terminated(_ text: String) -> String {
        text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
    }

    /// Writes lines for the operator to standard error, with a newline at their end.
    static func error(_ lines: String, isColored: Bool = false) {
        let lines = lines.hasSuffix("\n") ? String(lines.dropLast()) : lines
        guard Log.format == .text else { return write(Log.record(Log.level(of: lines), job: nil, lines) + "\n") }
        // A line that shows progress may stand where the cursor is.
        write(
            lines.fitted(to: isInteractive ? width : nil) + "\n", control: isInteractive ? ProgressLine.clear : "",
            isColored: isColored)
    }

    /// Writes the reason why the command ends to standard error; as JSON if the command line asks for a result in JSON.
    /// - Parameter file: the place of the error in a file; `nil` if the error has none. The place is not shown if the
    ///   result or the log is JSON.
    static func failure(_ message: String, _ status: ExitStatus, at file: ErrorPlace? = nil) {
        guard !speaksJSON, Log.format == .text, let file else {
            return error(
                speaksJSON
                    ? ErrorJSON.line(code: Int(status.rawValue), kind: status.word, message: message)
                    : "shipshape: \(message)")
        }
        let isColored = wantsColor(onTerminal: isInteractive)
        let lines =
            ["shipshape: \(file.linked(in: message))"] + file.snippet(width: min(width, 80), isColored: isColored)
        error(lines.joined(separator: "\n"), isColored: isColored || showsLinks)
    }

    /// Whether the command line asks for JSON; known even for errors that occur before the argument parser runs.
    static let speaksJSON: Bool = {
        let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        return ["json", "jsonl"].contains { form in
            zip(words, words.dropFirst()).contains { ["-o", "--output"].contains($0) && $1 == form }
                || ["-o", "-o=", "--output="].contains { words.contains($0 + form) }
        }
    }()

    /// Writes to standard error, and ignores errors, because a closed stream must not stop a job.
    /// - Parameter control: codes that move the terminal's cursor before the text.
    static func write(_ text: String, control: String = "", isColored: Bool = false) {
        let text = control + TerminalText.safe(text, isColored: isColored)
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }

    /// Asks the user at the terminal for confirmation, and returns only after the answer yes.
    /// - Parameters:
    ///   - nothing: the message after another answer, such as "nothing was written".
    ///   - need: what to do without a terminal, such as "backfill needs --yes".
    /// - Throws: ``UsageError`` without a terminal; ``ExitStatus/stopped`` after any other answer.
    static func confirm(_ question: String, orElse nothing: String, offTerminal need: String) throws {
        try confirm(question + " [yes/no]", by: ["yes", "y"], orElse: nothing, offTerminal: need) { $0.lowercased() }
    }

    /// Asks the user at the terminal to type a word, and returns only if the user types it.
    /// - Throws: as ``confirm(_:orElse:offTerminal:)`` does.
    static func confirm(_ question: String, by word: String, orElse nothing: String, offTerminal need: String) throws {
        try confirm(question, by: [word], orElse: nothing, offTerminal: need) { $0 }
    }

    private static func confirm(
        _ question: String, by answers: Set<String>, orElse nothing: String, offTerminal need: String,
        reading read: (String) -> String
    ) throws {
        guard canAsk else { throw UsageError("\(nothing): without a terminal, \(need)") }
        write(question.printable + " ")
        let answer = readLine()
        // If the input has ended, the user has typed no line break after the question, so the program writes one.
        if answer == nil { write("\n") }
        guard let answer, answers.contains(read(answer.trimmingCharacters(in: .whitespaces))) else {
            failure(nothing, .stopped)
            throw ExitStatus.stopped
        }
    }

    /// Asks the user at the terminal for a line of text.
    /// - Parameters:
    ///   - fallback: the answer if the user just presses the return key; `nil` to repeat the question then.
    ///   - check: returns `nil` to accept an answer, or else a message, which is shown before the question is repeated.
    /// - Throws: ``ExitStatus/stopped`` at the end of the input.
    static func ask(
        _ question: String, default fallback: String?, check: (String) -> String? = { _ in nil }
    ) throws -> String {
        while true {
            write("\(question)\(fallback.map { " [\($0)]" } ?? ""):".printable.fitted(to: width - 1) + " ")
            guard let line = readLine() else {
                write("\n")
                failure("nothing was written", .stopped)
                throw ExitStatus.stopped
            }
            let typed = line.trimmingCharacters(in: .whitespaces)
            guard let answer = typed.isEmpty ? fallback : typed else { continue }
            guard let defect = check(answer) else { return answer }
            error(ConnectionStringMask.mask("  \(defect)").printable)
        }
    }

    /// Asks the user at the terminal for a secret, which is not shown while it is typed; `nil` without a terminal.
    /// - Throws: ``ExitStatus/stopped`` if there is no answer.
    static func secret(_ question: String) throws -> String? {
        var before = termios()
        guard canAsk, unsafe tcgetattr(0, &before) == 0 else { return nil }
        var silent = before
        let known = before
        silenced.withLock { $0 = known }
        // If a signal ends the process, the terminal first gets back its settings, so that it shows what the user
        // types.
        let signals = TerminationSignals { exit("stopped by a signal") }
        defer { signals.cancel() }
        // An interrupt from the keyboard ends the line instead of sending a signal.
        let interrupt: UInt8 = 3
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        unsafe withUnsafeMutableBytes(of: &silent.c_cc) { unsafe $0[Int(VEOL)] = interrupt }
        defer { restoreTerminal() }
        guard unsafe tcsetattr(0, TCSAFLUSH, &silent) == 0 else { return nil }
        write(question.printable)
        var line = [UInt8](repeating: 0, count: 4_096)
        // A read from the terminal returns one line. The user ends the line with the return key, Ctrl-C or Ctrl-D.
        let count = unsafe read(0, &line, line.count)
        write("\n")
        guard count > 0, line[count - 1] != interrupt else { throw ExitStatus.stopped }
        return String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The settings that the terminal had before the user was asked for a secret; `nil` while the terminal shows what
    /// is typed.
    private static let silenced = Mutex<termios?>(nil)

    private static func restoreTerminal() {
        silenced.withLock { before in
            if var before { _ = unsafe tcsetattr(0, TCSAFLUSH, &before) }
            before = nil
        }
    }

    /// Ends the process after a signal that came before any work, for instance during a question or the search for a
    /// server.
    static func exit(_ reason: String) -> Never {
        restoreTerminal()
        if isInteractive, Log.format == .text { write("\n") }
        failure(reason, .stopped)
        _exit(ExitStatus.stopped.rawValue)
    }
}
