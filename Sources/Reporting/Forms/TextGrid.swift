import BSON

/// A table as lines of text, in aligned columns with two blanks between them.
struct TextGrid {
    let columns: [Report.Column]
    let rows: [[Report.Cell]]
    let paint: Paint

    private static let leastWidth = 12
    private static let mostLines = 6

    /// Returns the lines of the titles, and the lines of each row; every line is indented by two blanks.
    ///
    /// If the table is too wide, the cells of its widest columns are wrapped. A cell that shows a verdict has the
    /// colour of the verdict's level.
    /// - Parameter width: the width of the terminal in columns; `nil` for no limit.
    /// - Returns: `nil` if the table does not fit even with cells of ``mostLines`` lines.
    func lines(within width: Int?) -> (titles: [String], rows: [[String]])? {
        let cells = [columns.map(\.title)] + rows.map { $0.map(\.text.printable) }
        guard let widths = widths(of: cells, within: width) else { return nil }
        let wrapped = cells.map { row in
            row.indices.map { row[$0].count > widths[$0] ? row[$0].wrapped(to: widths[$0]) : [row[$0]] }
        }
        let isTall = wrapped.contains { row in row.contains { $0.count > Self.mostLines } }
        guard !isTall else { return nil }
        let levels = [columns.map { _ in nil }] + rows.map { $0.map(\.level) }
        let lines = zip(wrapped, levels).map { self.lines(of: $0, in: $1, widths) }
        return (lines[0], Array(lines.dropFirst()))
    }

    /// Returns how many columns, from the left, fit into the width without wrapped cells; at least one.
    func fittingColumns(within width: Int) -> Int {
        var end = 0
        let fitting = columns.indices.prefix { column in
            end += 2 + rows.reduce(columns[column].title.count) { max($0, $1[column].text.printable.count) }
            return end <= width
        }
        return max(1, fitting.count)
    }

    /// Returns the table without the fewest and least of its columns that can be left out, so that it fits the width
    /// without wrapped cells; without all of them, if it does not fit even then.
    func fitting(_ width: Int?) -> TextGrid {
        let leastFirst = columns.indices.filter { columns[$0].omission != nil }.sorted {
            (columns[$0].omission ?? 0) < (columns[$1].omission ?? 0)
        }
        let choices = (0..<(1 << leastFirst.count)).map { choice in
            let omitted = leastFirst.indices.filter { choice & 1 << $0 != 0 }.map { leastFirst[$0] }
            let kept = columns.indices.filter { !omitted.contains($0) }
            return TextGrid(
                columns: kept.map { columns[$0] }, rows: rows.map { row in kept.map { row[$0] } }, paint: paint)
        }
        return choices.first { $0.fittingColumns(within: width ?? .max) == $0.columns.count }
            ?? choices[choices.count - 1]
    }

    func prefix(_ count: Int) -> TextGrid {
        TextGrid(columns: Array(columns.prefix(count)), rows: rows.map { Array($0.prefix(count)) }, paint: paint)
    }

    /// Returns the width of each column; `nil` if the columns do not fit even with wrapped cells.
    private func widths(of cells: [[String]], within width: Int?) -> [Int]? {
        var widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        guard let width else { return widths }
        let least = columns.indices.map { column in
            cells.map { $0[column].longestWord }.reduce(
                columns[column].isNumber ? 0 : min(Self.leastWidth, widths[column]), max)
        }
        for _ in 0..<max(0, widths.reduce(2 * columns.count, +) - width) {
            let wrappable = columns.indices.filter { widths[$0] > least[$0] }
            guard let widest = wrappable.max(by: { widths[$0] < widths[$1] }) else { return nil }
            widths[widest] -= 1
        }
        return widths
    }

    private func lines(of row: [[String]], in levels: [Report.Level?], _ widths: [Int]) -> [String] {
        (0..<(row.map(\.count).max() ?? 0)).map { number in
            var line = columns.indices.map { column in
                let text = number < row[column].count ? row[column][number] : ""
                let blanks = String(repeating: " ", count: max(0, widths[column] - text.count))
                let painted = text.isEmpty ? "" : levels[column].map { paint($0, text) } ?? text
                return "  " + (columns[column].isNumber ? blanks + painted : painted + blanks)
            }.joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
