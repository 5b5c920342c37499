import BSON

/// A command's result, which can be shown in every form.
package protocol Reportable: Sendable {
    /// For a person at a terminal.
    func text(_ layout: TextLayout) -> String
    /// For machines.
    var json: JSONReport { get }
    /// What the other forms are rendered from.
    var report: Report { get }
}

/// Where a text for a person goes.
package struct TextLayout: Sendable {
    /// The columns of a terminal; `nil` for what has none: then lines are as long as they need be.
    package var width: Int?
    /// Whether escape sequences may be used.
    package var isColored = false
    /// Whether it shows ASCII alone.
    package var isPlain = false
    /// Whether it is kept: then it holds what a reader at a terminal asks for with flags.
    package var isKept = false
    /// Whether the notes on a result are left out.
    package var hidesNotes = false

    /// For a terminal, or for what reads standard output.
    package init(width: Int? = nil, isColored: Bool = false) {
        self.width = width
        self.isColored = isColored
    }

    /// For a report file.
    package static var file: TextLayout {
        var layout = TextLayout()
        layout.isKept = true
        return layout
    }
}

extension TextLayout {
    /// Notes as they are shown.
    func notes(_ notes: [String]) -> [String] { hidesNotes ? [] : notes }

    /// A report with its notes as they are shown.
    func shown<R>(_ report: R, notes: WritableKeyPath<R, [String]>) -> R {
        var report = report
        report[keyPath: notes] = self.notes(report[keyPath: notes])
        return report
    }
}

/// Text on its way to a terminal or to the log of a build: the last look at it.
///
/// What others wrote is escaped where it is put into a line, by ``Swift/String/printable``. This makes sure that nothing
/// that was forgotten there steers a terminal or gives a runner commands: of what it keeps only our own colours and the
/// ends of lines do anything.
package enum TerminalText {
    /// Escapes what neither ends a line nor is, where there are colours, one of ours.
    package static func safe(_ text: String, isColored: Bool) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            isColored ? self.line(line) : String(line).printable
        }.joined(separator: "\n")
    }

    /// The text as one line, whatever it holds; our colours stay.
    fileprivate static func line(_ line: Substring) -> String {
        guard line.unicodeScalars.contains("\u{1B}") else { return String(line).printable }
        var (result, rest) = ("", line)
        while !rest.isEmpty {
            if let code = Paint.codes.first(where: { rest.hasPrefix($0) }) {
                result += code
                rest = rest.dropFirst(code.count)
            } else {
                let end = rest.dropFirst().firstIndex(of: "\u{1B}") ?? rest.endIndex
                result += String(rest[..<end]).printable
                rest = rest[end...]
            }
        }
        return result
    }
}

extension Sequence<String> {
    /// Each as a line of its own, and none as more.
    var asLines: String { map { TerminalText.line($0[...]) }.joined(separator: "\n") }
}
