extension String {
    /// Returns the text for a terminal: a line that is too wide is broken between words and continues below, indented.
    ///
    /// A mongosh command, and a `shipshape` command at the end of a line, are not broken, so that they can be copied.
    /// - Parameter width: the width of the terminal in columns; `nil` leaves the text unchanged.
    package func fitted(to width: Int?) -> String {
        guard let width else { return self }
        return split(separator: "\n", omittingEmptySubsequences: false).map { line in
            Paint.visibleCount(of: line) <= width ? String(line) : Self.broken(line, width)
        }.joined(separator: "\n")
    }

    private static func broken(_ line: Substring, _ width: Int) -> String {
        let indent = line.prefix { $0 == " " }
        var (text, column) = (String(indent), indent.count)
        for word in words(of: line) {
            let count = Paint.visibleCount(of: word)
            if column == indent.count {
                column += count
            } else if column + 1 + count <= width {
                text += " "
                column += 1 + count
            } else {
                text += "\n\(indent)  "
                column = indent.count + 2 + count
            }
            text += word
        }
        return text
    }

    /// Returns the words of a line, between which the line may be broken.
    ///
    /// Three kinds of text count as one word: a `shipshape` command at the end of the line, a flag with the path that
    /// follows it, and a whole line with a mongosh command.
    private static func words(of line: Substring) -> [Substring] {
        if line.hasMongoshCommand { return [line.drop { $0 == " " }] }
        let lead = /(?:^ *[Nn]ext\b[^:]*| with| again| more| working| first|undo the job): (?=shipshape )/
        let command = line.firstMatch(of: lead)?.range.upperBound ?? line.endIndex
        let words = line[..<command].matches(of: /--[a-z-]+ \S+\.\S+|\S+/).map { line[$0.range] }
        return command == line.endIndex ? words : words + [line[command...]]
    }

    /// The length of the longest word, which is the least width that the text can be wrapped to.
    var longestWord: Int { Self.words(of: self[...]).map(\.count).max() ?? 0 }

    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Returns the words in indented lines that fit the terminal; a longer word has a line of its own.
    /// - Parameter width: the width of the terminal in columns; `nil` for one line.
    package func wrapped(to width: Int?, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        return wrapped(to: width.map { Swift.max(20, $0 - indent) }).map { margin + $0 }
    }

    /// Returns the words in lines that are at most `width` wide; a longer word has a line of its own.
    func wrapped(to width: Int?) -> [String] {
        guard let width else { return [self] }
        var lines: [String] = []
        for word in Self.words(of: self[...]) {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension StringProtocol where SubSequence == Substring {
    /// Whether the text has a command for mongosh, which stays in one line, so that it can be copied.
    var hasMongoshCommand: Bool { contains(/db\.get(Collection|SiblingDB)\(/) }
}
