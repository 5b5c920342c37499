import BSON
package import ServerSchema

/// A line of a file with a caret below the position of an error, as compilers show it.
package struct SourceSnippet: Sendable {
    /// The unit in which a location counts columns: JSON parsers count bytes, and YAML parsers count Unicode scalars.
    package enum Unit: Sendable {
        case bytes, characters
    }

    private let number: Int
    private let cells: [Cell]
    /// The characters that are wrong, as positions in ``cells``; empty if the error is at the end of the line.
    private let marked: Range<Int>
    private let suggestion: String?

    /// A character of the line as a terminal shows it, and the number of columns that it takes there.
    private struct Cell: Sendable {
        let text: String
        let columns: Int
    }

    /// Finds the line of a location; `nil` if the location has no line number, or a line number after the end of the
    /// text.
    ///
    /// The number that follows the last line is accepted, because an error at the end of a file can have it.
    /// - Parameters:
    ///   - lines: the lines of the file, from ``lines(of:)``.
    ///   - suggestion: the text to show below the caret; `nil` for none.
    package init?(_ location: SourceLocation, in lines: [Substring], counting unit: Unit, suggestion: String? = nil) {
        guard location.line > 0 else { return nil }
        guard lines.count + 1 >= location.line else { return nil }
        // An error at the end of the file can be located on the line after the last one. The snippet then shows the
        // last line.
        let isAfterLast = location.line > lines.count || location.line == lines.count && lines.last?.isEmpty == true
        number = isAfterLast ? max(1, location.line - 1) : location.line
        let bytes = lines[number - 1].utf8
        let line = String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
        cells = Self.cells(of: line)
        let characters = Array(line)
        let offset = isAfterLast ? .max : max(0, location.column - 1)
        let first = Self.position(of: offset, in: characters, unit)
        marked = first..<Self.end(of: first, in: characters)
        self.suggestion = suggestion?.printable
    }

    /// Returns the lines of a file's text, without the line feeds.
    package static func lines(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// Returns the position of the character that contains the given byte or scalar.
    private static func position(of offset: Int, in characters: [Character], _ unit: Unit) -> Int {
        var passed = 0
        for (position, character) in characters.enumerated() {
            passed += unit == .bytes ? character.utf8.count : character.unicodeScalars.count
            if passed > offset { return position }
        }
        return characters.count
    }

    /// Returns the end of the word or the quoted text that begins at a position.
    private static func end(of first: Int, in characters: [Character]) -> Int {
        guard first < characters.count else { return first }
        let rest = characters[(first + 1)...]
        if characters[first] == "\"" {
            var isEscaped = false
            for (index, character) in zip(rest.indices, rest) {
                if character == "\"", !isEscaped { return index + 1 }
                isEscaped = character == "\\" && !isEscaped
            }
            return first + 1
        }
        guard isOfWord(characters[first]) else { return first + 1 }
        return rest.firstIndex { !isOfWord($0) } ?? characters.count
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_-.$".contains(character)
    }

    /// The number of columns from one tab stop to the next.
    private static let tab = 4

    private static func cells(of line: String) -> [Cell] {
        var column = 0
        return line.map { character in
            let cell: Cell
            if character == "\t" {
                let columns = tab - column % tab
                cell = Cell(text: String(repeating: " ", count: columns), columns: columns)
            } else {
                // A character that a terminal would act on, such as ESC, is shown as an escape sequence of ASCII
                // characters.
                let shown = String(character).printable
                cell = Cell(text: shown, columns: shown == String(character) ? character.columns : shown.count)
            }
            column += cell.columns
            return cell
        }
    }

    /// Returns the line of the file, and a line with the caret.
    ///
    /// A third line has the suggestion, if there is one that fits into the width. Each line begins with a margin.
    /// - Parameter width: the maximum number of columns of a line; a longer line of the file is cut so that the caret
    ///   is seen.
    package func lines(width: Int, isColored: Bool) -> [String] {
        let paint = Paint(isOn: isColored)
        let label = "  \(number)"
        let blank = String(repeating: " ", count: label.count)
        let room = max(20, width - label.count - " | ".count)
        let part = window(of: room)
        let shown =
            (part.isCutBefore ? "…" : "") + cells[part.cells].map(\.text).joined() + (part.isCutAfter ? "…" : "")
        let before = (part.isCutBefore ? 1 : 0) + columns(part.cells.lowerBound..<marked.lowerBound)
        let mark = max(1, min(columns(marked.clamped(to: part.cells)), room - before))
        let caret = "^" + String(repeating: "~", count: mark - 1)
        let lines = [
            "\(label) | \(shown)",
            "\(blank) | \(String(repeating: " ", count: before))\(paint(.error, caret))",
        ]
        guard let suggestion, suggestion.count <= room else { return lines }
        let indent = String(repeating: " ", count: min(before, room - suggestion.count))
        return lines + ["\(blank) | \(indent)\(paint(.good, suggestion))"]
    }

    private func columns(_ range: Range<Int>) -> Int { cells[range].reduce(0) { $0 + $1.columns } }

    /// Returns the part of the line that is shown; it includes the caret.
    /// - Parameter room: the number of columns for the line.
    private func window(of room: Int) -> (cells: Range<Int>, isCutBefore: Bool, isCutAfter: Bool) {
        let all = 0..<cells.count
        guard columns(all) > room else { return (all, false, false) }
        // If the line has to be cut on its left, the caret stays in the left half, so that the word at the caret is
        // seen.
        var start = 0
        if columns(0..<marked.upperBound) > room - 1 {
            while start < marked.lowerBound, columns(start..<marked.lowerBound) > room / 2 { start += 1 }
        }
        let isCutBefore = start > 0
        var (end, used) = (start, isCutBefore ? 1 : 0)
        while end < cells.count, used + cells[end].columns <= room - 1 {
            used += cells[end].columns
            end += 1
        }
        return (start..<end, isCutBefore, end < cells.count)
    }
}

extension Character {
    /// The number of columns that the character takes on a terminal: 2 for a wide character, such as a Chinese one, and
    /// 0 for a mark that is drawn on another character.
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        let isEmoji = scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
        return isEmoji || Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks of wide characters.
    ///
    /// Source: Unicode Standard Annex #11, East Asian Width.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}
