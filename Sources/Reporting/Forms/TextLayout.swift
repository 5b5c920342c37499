import BSON

/// A command's result, which can be shown in every form.
package protocol Reportable: Sendable {
    /// Returns the text form, for a person.
    func text(_ layout: TextLayout) -> String
    /// The JSON form.
    var json: JSONReport { get }
    /// The report that the other forms are rendered from.
    var report: Report { get }
}

/// The layout of a text form, which depends on the place where it is shown.
package struct TextLayout: Sendable {
    /// The width of the terminal in columns; `nil` for a place without one, where lines are not wrapped.
    package var width: Int?
    /// Whether escape sequences may be used.
    package var isColored = false
    /// Whether only ASCII is shown.
    package var isPlain = false
    /// Whether the text goes to a report file, which includes details that a terminal shows only with flags.
    package var isKept = false
    /// Whether the notes on a result are left out.
    package var hidesNotes = false

    /// Creates the layout for standard output, be it a terminal or not.
    package init(width: Int? = nil, isColored: Bool = false) {
        self.width = width
        self.isColored = isColored
    }

    /// The layout for a report file.
    package static var file: TextLayout {
        var layout = TextLayout()
        layout.isKept = true
        return layout
    }
}

extension TextLayout {
    /// Returns the notes, or none if the layout hides them.
    func notes(_ notes: [String]) -> [String] { hidesNotes ? [] : notes }

    /// Returns the report, without its notes if the layout hides them.
    func shown<R>(_ report: R, notes: WritableKeyPath<R, [String]>) -> R {
        var report = report
        report[keyPath: notes] = self.notes(report[keyPath: notes])
        return report
    }
}

/// The last escaping of text on its way to a terminal or a build log.
///
/// Text from elsewhere is escaped by ``Swift/String/printable`` where it is put into a line. This type escapes what was
/// forgotten there, so that no text controls a terminal or gives commands to a build runner. Only our own colour codes
/// and line breaks keep their effect.
package enum TerminalText {
    /// Escapes all control characters except line breaks and, if `isColored`, our own colour codes.
    package static func safe(_ text: String, isColored: Bool) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            isColored ? self.line(line) : String(line).printable
        }.joined(separator: "\n")
    }

    /// Returns the text as one line, whatever it contains, with our own colour codes unchanged.
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
    /// The elements as lines: each element is exactly one line.
    var asLines: String { map { TerminalText.line($0[...]) }.joined(separator: "\n") }
}
