extension [String] {
    /// Blocks as a text whose verdict comes first, and once more at the end of one that is too long to be seen at once.
    func asReport(verdict: String) -> String {
        let text = joined(separator: "\n\n")
        return text + (text.count { $0 == "\n" } > 12 ? "\n\n\(verdict)\n" : "\n")
    }
}

extension String {
    /// The text with blanks up to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// The words in indented lines, none of which is wider than a terminal.
    /// - Parameter width: the columns of a terminal; `nil` for one line.
    func wrapped(to width: Int?, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        return wrapped(to: width.map { Swift.max(20, $0 - indent) }).map { margin + $0 }
    }

    /// The words in lines of a width; a word that is longer has a line of its own.
    func wrapped(to width: Int?) -> [String] {
        guard let width else { return [self] }
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
