import BSON
import TextTable

/// A style for a text table: two spaces between columns, without a frame or a ruler.
private enum Columns: TextTableStyle {
    static func prepare(_ text: String, for column: Column) -> String { Plain.prepare(text, for: column) }

    static func escape(_ text: String) -> String { text }
    static func begin(_ table: inout String, index: Int, columns: [Column]) {}
    static func end(_ table: inout String, index: Int, columns: [Column]) {}

    static func header(_ table: inout String, index: Int, columns: [Column]) {
        table += columns.map { $0.headerString(for: self) }.joined(separator: "  ") + "\n"
    }

    static func row(_ table: inout String, index: Int, columns: [Column]) {
        table += columns.map { $0.string(for: self) }.joined(separator: "  ") + "\n"
    }
}

extension TextTable {
    /// Returns the table's lines, without blanks at their ends.
    func lines(for rows: [T]) -> [String] {
        (string(for: rows, style: Columns.self) ?? "").split(separator: "\n").map { String($0.trimmedEnd) }
    }
}

extension TextTable<[Report.Cell]> {
    /// Returns a report's table as lines for a terminal, indented.
    ///
    /// If the table is too wide for the terminal, each row becomes several lines: its first cell, then the others with
    /// the titles of their columns.
    static func lines(of table: Report.Table, width: Int?, indent: Int = 2) -> [String] {
        let margin = String(repeating: " ", count: indent)
        let lines = TextTable { row in
            zip(table.columns, row).map { column, cell in
                Column(title: column.title, value: cell.text.printable, align: column.isNumber ? .right : .left)
            }
        }.lines(for: table.rows).map { margin + $0 }
        guard let width, lines.contains(where: { $0.count > width }) else { return lines }
        return table.rows.flatMap { row -> [String] in
            let cells = zip(table.columns, row).dropFirst().filter { !$0.1.text.isEmpty }
            let words = cells.map { "\($0.title) \($1.text.printable)" }.joined(separator: ", ")
            return [margin + (row.first?.text.printable ?? "")] + words.wrapped(to: width, indent: indent + 2)
        }
    }
}

extension Substring {
    /// The text without the blanks at its end.
    var trimmedEnd: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
