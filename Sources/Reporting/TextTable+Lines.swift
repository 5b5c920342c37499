import TextTable

extension TextTable {
    /// The table's lines, without the blanks that fill the last column.
    func lines(for rows: [T]) -> [String] {
        (string(for: rows, style: Style.plain) ?? "").split(separator: "\n").map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
