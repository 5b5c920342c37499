import BSON

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
