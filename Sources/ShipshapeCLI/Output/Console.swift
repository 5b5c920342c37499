internal import Foundation
internal import SystemPackage

/// The process's own streams: results go to standard output, everything else to standard error.
enum Console {
    /// Whether standard error is a terminal: where progress is drawn and questions are asked.
    static let isInteractive = isatty(2) == 1
    /// Whether standard output is a terminal: where colour is welcome.
    static let isOutputTerminal = isatty(1) == 1
    /// Whether standard input is a terminal: where an answer can come from.
    static let isInputTerminal = isatty(0) == 1

    /// The width of the terminal that progress is drawn on, 80 where it cannot be told.
    static var width: Int { width(of: 2) ?? 80 }

    /// The width of the terminal that results go to; `nil` where they go to a file or a pipe.
    static var outputWidth: Int? { isOutputTerminal ? width(of: 1) : nil }

    private static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Gives every standard stream a descriptor: where one is closed, the next socket would take its number, and
    /// results be written into it.
    static func secureStreams() {
        for (stream, mode) in [(Int32(0), O_RDONLY), (1, O_RDONLY), (2, O_WRONLY)] where fcntl(stream, F_GETFD) == -1 {
            // Lower numbers are taken, so this is the stream's; writing a result to it fails, as it should.
            _ = unsafe open("/dev/null", mode)
        }
    }

    /// Whether colour is wanted on a stream: on a terminal, unless `NO_COLOR` is set.
    static func wantsColor(onTerminal isTerminal: Bool) -> Bool {
        isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Writes a result, with a newline at its end.
    static func result(_ text: String) throws {
        do {
            _ = try FileDescriptor.standardOutput.writeAll((text.hasSuffix("\n") ? text : text + "\n").utf8)
        } catch {
            throw OutputError(description: "cannot write to standard output: \(error)")
        }
    }

    /// Writes a line for the operator.
    static func error(_ line: String) { write(line + "\n") }

    /// Writes to standard error as it is; a closed stream is no reason to stop a job.
    static func write(_ text: String) { _ = try? FileDescriptor.standardError.writeAll(text.utf8) }

    /// Goes on only when somebody at the terminal says yes.
    /// - Parameters:
    ///   - nothing: what is said when nobody does, as "nothing was written".
    ///   - need: what to do where nobody can be asked, as "backfill needs --yes".
    /// - Throws: ``UsageError`` off a terminal; ``ExitStatus/stopped`` after any other answer.
    static func confirm(_ question: String, orElse nothing: String, offTerminal need: String) throws {
        guard isInputTerminal, isInteractive else { throw UsageError("\(nothing): off a terminal, \(need)") }
        guard confirms(question) else {
            error("shipshape: \(nothing)")
            throw ExitStatus.stopped
        }
    }

    /// Asks a question that is answered by `yes`; anything else is a no.
    private static func confirms(_ question: String) -> Bool {
        write(question + " [yes/no] ")
        guard let answer = readLine() else {
            // The end of the input leaves the line open.
            write("\n")
            return false
        }
        return ["yes", "y"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
    }
}
