import BSON
import Checking
import TextTable

/// The groups of one collection: a table, and below it examples and the filter of each.
///
/// Where the table is too wide for a terminal, each group is told in lines of its own.
struct CheckReportGroups {
    let collection: CheckReport.Collection
    let ids: IDDisplay
    /// The columns that there are; `nil` for as many as it takes.
    let width: Int?
    /// Whether to tell the filter of each group.
    var showsFilters = true

    private typealias Row = (number: Int, group: ViolationGroup)

    private var rows: [Row] { collection.groups.enumerated().map { ($0 + 1, $1) } }

    var text: String {
        let table = table
        let isNarrow = width.map { width in table.contains { $0.count > width } } ?? false
        let lines = rows.flatMap { row in (isNarrow ? heading(row) : []) + details(row, isFirst: !isNarrow) }
        return ((isNarrow ? [] : table) + lines).asLines
    }

    /// The table's lines, indented, without the spaces that fill the last column.
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
                Column(title: "level", value: "\(violation.level)"),
                Column(title: "rule", value: "\(violation.rule)"),
                Column(title: "path", value: "\(violation.path)".printable),
                Column(title: "expected", value: violation.expected.printable),
                Column(title: "found", value: violation.found.printable),
            ]
        }
        return (table.string(for: rows) ?? "").split(separator: "\n").map { line in
            "  \(line.trimmedEnd)"
        }
    }

    /// What the table would say of a group.
    private func heading(_ row: Row) -> [String] {
        let violation = row.group.violation
        let new = row.group.newCount.map { " (\($0.grouped) new)" } ?? ""
        return [
            "  \(padded(row.number))  \(row.group.count.documents)\(new), \(violation.level): \(violation.rule)",
            "  \(padded())  \("\(violation.path)".printable): expected \(violation.expected), found \(violation.found)",
        ]
    }

    private func details(_ row: Row, isFirst: Bool) -> [String] {
        let name = ShellLiteral.string((collection.reading.namespace ?? collection.namespace).collection)
        let filter = ShellLiteral.text(.object(row.group.filter))
        let warning = row.group.filterIsExact ? "" : "  // finds more than these"
        // Three say what the ids look like; the machine forms hold all that were kept.
        let samples = (0..<min(3, row.group.sampleIDs.count)).compactMap { sample($0, of: row.group) }
        let lines = [
            samples.isEmpty ? nil : "such as _id \(samples.joined(separator: ", "))",
            showsFilters ? "db.getCollection(\(name)).find(\(filter))\(warning)" : nil, proof(of: row.group),
            exception(of: row.group),
        ].compactMap(\.self)
        return lines.enumerated().map { index, line in
            "  \(isFirst && index == 0 ? padded(row.number) : padded())  \(line)"
        }
    }

    /// An `_id`, with the value that stands at the finding's place where values were asked for.
    private func sample(_ index: Int, of group: ViolationGroup) -> String? {
        guard let id = ids.text(group.sampleIDs[index]) else { return nil }
        let value = index < group.sampleValues.count ? group.sampleValues[index] : nil
        let shown = SampleValue(value, at: group.violation.path, ids: ids)
        return shown.text.map { "\(id) (\($0))" } ?? id
    }

    /// What the server says of the filter.
    private func proof(of group: ViolationGroup) -> String? {
        guard let proven = group.provenCount else { return nil }
        if proven == group.count { return "proven: the server finds as many" }
        let isExplained = !group.filterIsExact && proven > group.count
        return "the server finds \(proven.grouped): "
            + (isExplained
                ? "the filter is an upper bound" : "differs from the scan, were documents changed meanwhile?")
    }

    private func exception(of group: ViolationGroup) -> String? {
        group.exception.map { exception in
            let end = exception.expires.map { " until \($0)" } ?? ""
            return "excepted\(end): \(exception.reason.printable) (\(exception.owner.printable), \(exception.location))"
        }
    }

    /// A group's number, or the room for one.
    private func padded(_ number: Int? = nil) -> String {
        let text = number.map(String.init) ?? ""
        return String(repeating: " ", count: max(0, "\(collection.groups.count)".count - text.count)) + text
    }
}
