import BSON

/// A table as lines of text, in aligned columns with two blanks between them.
struct TextGrid {
    let columns: [Report.Column]
    let rows: [[Report.Cell]]
    let paint: Paint

    /// The lines, indented by two blanks: the titles, then a line per row.
    ///
    /// A cell that shows a verdict has the colour of its level.
    var lines: [String] {
        let cells = [columns.map { Report.Cell($0.title) }] + rows
        let widths = columns.indices.map { column in cells.map { $0[column].text.printable.count }.max() ?? 0 }
        return cells.map { row in
            var line = Substring(
                columns.indices.map { column in
                    let text = row[column].text.printable
                    let blanks = String(repeating: " ", count: widths[column] - text.count)
                    let painted = row[column].level.map { paint($0, text) } ?? text
                    return "  " + (columns[column].isNumber ? blanks + painted : painted + blanks)
                }.joined())
            while line.last == " " { line.removeLast() }
            return String(line)
        }
    }
}
