import BSON
import Checking
import TextTable

/// The violation groups of one collection: a table, then examples and the filter of each group.
///
/// A violation group is all documents that break the same rule at the same path. If the table is too wide for the
/// terminal, each group has lines of its own instead of a row.
struct CheckReportGroups {
    let collection: CheckReport.Collection
    let ids: IDDisplay
    /// The width of the terminal in columns; `nil` for no limit.
    let width: Int?
    /// Whether to show the filter of each group.
    var showsFilters = true

    private typealias Row = (number: Int, group: ViolationGroup)

    private var rows: [Row] { collection.groups.enumerated().map { ($0 + 1, $1) } }

    var text: String {
        let table = table
        let isNarrow = width.map { width in table.contains { $0.count > width } } ?? false
        let lines = rows.flatMap { row in (isNarrow ? heading(row) : []) + details(row, isFirst: !isNarrow) }
        return ((isNarrow ? [] : table) + lines).asLines
    }

    /// The table's lines, indented and without trailing blanks.
    private var table: [String] {
        let table = TextTable<Row> { row in
            let violation = row.group.violation
            var columns = [
                Column(title: "#", value: row.number, align: .right),
                Column(title: "documents", value: row.group.count.grouped, align: .right),
            ]
            if collection.isInActive != nil {
                columns.append(Column(title: "new", value: (row.group.newCount ?? 0).grouped, align: .right))
            }
            return columns + [
                Column(title: "level", value: row.group.severity),
                Column(title: "rule", value: "\(violation.rule)"),
                Column(title: "path", value: "\(violation.path)".printable),
                Column(title: "expected", value: violation.expected.printable),
                Column(title: "found", value: violation.found.printable),
            ]
        }
        return table.lines(for: rows).map { "  \($0)" }
    }

    /// Returns a group's number, counts, rule and path as lines, for a terminal that is too narrow for the table.
    private func heading(_ row: Row) -> [String] {
        let violation = row.group.violation
        let new = row.group.newCount.map { " (\($0.grouped) new)" } ?? ""
        let lines: [String] = [
            "\(row.group.count.documents)\(new), \(row.group.severity): \(violation.rule)",
            "\("\(violation.path)".printable): expected \(violation.expected), found \(violation.found)",
        ].flatMap { wrapped($0) }
        return lines.enumerated().map { "  \(padded($0 == 0 ? row.number : nil))  \($1)" }
    }

    private func details(_ row: Row, isFirst: Bool) -> [String] {
        let words = ViolationGroupWords(row.group, of: collection, ids: ids)
        // A command is not wrapped, so that it can be copied.
        let command = showsFilters ? [words.command] : []
        let lines = wrapped(words.samples) + command + wrapped(words.proof) + wrapped(words.exception)
        return lines.enumerated().map { index, line in
            "  \(isFirst && index == 0 ? padded(row.number) : padded())  \(line)"
        }
    }

    private func wrapped(_ line: String?) -> [String] {
        line.map { $0.wrapped(to: width.map { max(20, $0 - padded().count - 4) }) } ?? []
    }

    /// Returns a group's number, padded with blanks to the width of the largest number; only blanks for `nil`.
    private func padded(_ number: Int? = nil) -> String {
        let text = number.map(String.init) ?? ""
        return String(repeating: " ", count: max(0, "\(collection.groups.count)".count - text.count)) + text
    }
}
