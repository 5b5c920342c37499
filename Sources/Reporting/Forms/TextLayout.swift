import BSON

/// A command's result, which can be shown in every output format.
package protocol Reportable: Sendable {
    /// Returns the result as text, for a person.
    func text(_ layout: TextLayout) -> String
    var json: JSONReport { get }
    /// The report from which every output format except JSON and JSON lines is rendered.
    var report: Report { get }
}

extension Reportable {
    package func text(_ layout: TextLayout) -> String { TextReport(report, layout).text }
}

/// The width, colours and details of a result as text, which depend on whether a terminal or a file shows it.
package struct TextLayout: Sendable {
    /// The width of the terminal in columns; `nil` for output to a file or a pipe, where lines are not wrapped.
    package var width: Int?
    /// Whether the text has escape sequences for colours.
    package var isColored = false
    /// Whether graphics are drawn with ASCII characters only.
    package var isPlain = false
    /// Whether the text goes to a report file.
    ///
    /// A report file includes details that a terminal shows only with flags.
    package var isKept = false
    /// Whether only the verdict is shown.
    package var isQuiet = false

    /// Creates the layout for standard output, whether it is a terminal or not.
    package init(width: Int? = nil, isColored: Bool = false) {
        self.width = width
        self.isColored = isColored
    }

    package static var file: TextLayout {
        var layout = TextLayout()
        layout.isKept = true
        return layout
    }
}

/// Escapes text just before it is written to a terminal or a build log.
///
/// Most text from outside the program, such as a field name, has already been escaped by ``Swift/String/printable``
/// when it was put into a line. This type escapes all other text, so that no text controls a terminal or gives commands
/// to a build runner. Only line breaks and, in coloured text, our own colour codes and links keep their effect.
package enum TerminalText {
    /// Escapes all control characters except line breaks and, if `isColored`, our own colour codes and links.
    package static func safe(_ text: String, isColored: Bool) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            isColored ? self.line(line) : String(line).printable
        }.joined(separator: "\n")
    }

    /// Returns the line with all control characters escaped, even line breaks, except our own colour codes and
    /// links.
    fileprivate static func line(_ line: Substring) -> String {
        guard line.unicodeScalars.contains("\u{1B}") else { return String(line).printable }
        var (result, rest) = ("", line)
        while !rest.isEmpty {
            if let code = Paint.codes.first(where: { rest.hasPrefix($0) }) ?? Hyperlink.code(at: rest).map(String.init)
            {
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
    /// The elements, joined by line breaks; control characters are escaped, so that each element is exactly one line.
    var asLines: String { map { TerminalText.line($0[...]) }.joined(separator: "\n") }
}
