import BSON
import ServerSchema

/// A report as text, for a terminal, a pipe or a file.
///
/// The verdict comes first. A long text repeats the verdict at the end.
package struct TextReport {
    private let report: Report
    private let layout: TextLayout
    private let paint: Paint

    package init(_ report: Report, _ layout: TextLayout = TextLayout()) {
        (self.report, self.layout) = (report, layout)
        paint = Paint(isOn: layout.isColored)
    }

    /// The number of lines on a small terminal; a longer text repeats the verdict at its end.
    private static let screen = 24

    /// The report as text, which ends with a line break.
    package var text: String {
        let body = body
        var blocks = [body]
        if body.count(where: { $0 == "\n" }) > Self.screen { blocks.append(headline) }
        if !report.next.isEmpty, !layout.hidesNotes {
            blocks.append(report.next.map(\.printable).joined(separator: "\n"))
        }
        return blocks.joined(separator: "\n\n").fitted(to: layout.width) + "\n"
    }

    /// The text without its end; the end repeats the verdict and proposes the next commands.
    private var body: String {
        let notes = (layout.hidesNotes ? [] : report.notes) + report.warnings
        var blocks = [[headline] + report.parts.flatMap(lines) + report.lines.map { "  \($0.printable)" }]
        blocks += report.figures.series.filter(\.showsLatest).map(lines)
        blocks += report.tables.filter { !$0.rows.isEmpty }.map(lines)
        blocks += report.sections.map(lines) + [advice]
        blocks += report.reports.map { name, report in
            [paint.bold("In \(name.printable): ") + TextReport(report, layout).body]
        }
        blocks += [notes.map { "Note: \($0.printable)" }, [report.figures.footer].compactMap { $0?.printable }]
        return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var headline: String {
        let text = report.headline.printable
        return report.level == .notice ? paint.bold(text) : paint(report.level, text)
    }

    private func lines(_ part: Report.Part) -> [String] {
        let text = (part.figures ?? part.sentence).printable
        let words = (text.hasSuffix(".") ? String(text.dropLast()) : text).wrapped(to: layout.width, indent: 23)
        let head = "  \(part.name.padded(to: 9))  \(paint(part.level, part.word.padded(to: 8)))  "
        return [head + (words.first ?? "").dropFirst(23)] + words.dropFirst()
            + part.reasons.map { "    \($0.printable)" }
    }

    /// Returns a line for each curve of a chart: its name, a sparkline of its values (on a narrow terminal, of the
    /// newest ones), and its latest value.
    private func lines(_ series: Report.Series) -> [String] {
        let name = series.lines.map(\.name.count).max() ?? 0
        let latest = series.lines.map { $0.values.last.flatMap(\.self).map { Int($0).grouped } ?? "-" }
        let room = layout.width.map { max(8, $0 - name - 6 - (latest.map(\.count).max() ?? 0)) }
        return zip(series.lines, latest).map { line, latest in
            let course = Sparkline.text(line.values.suffix(room ?? series.points.count), isPlain: layout.isPlain)
            return "  \(line.name.padded(to: name))  \(course)  \(latest)"
        }
    }

    private func lines(_ table: Report.Table) -> [String] {
        let title = table.title.printable
        return [title.hasSuffix(".") ? title : "\(title):"]
            + grid(table.columns, table.rows.map { (cells: $0, below: []) })
    }

    private func lines(_ section: Report.Section) -> [String] {
        let about = section.about.isEmpty ? "" : " (\(section.about.printable))"
        let summary = section.summary.isEmpty ? "" : ": \(section.summary.printable)"
        return [paint.bold(section.name.printable) + about + summary] + findings(of: section)
            + section.remarks.map(\.printable)
    }

    private func findings(of section: Report.Section) -> [String] {
        if report.style.listsFindings || section.columns.count < 2 {
            return section.findings.flatMap { finding in
                let message = finding.message.printable
                return ["  " + (finding.level > .notice ? paint(finding.level, message) : message)]
                    + ((finding.commands.isEmpty ? finding.asides : []) + finding.details + finding.commands).map {
                        "    \($0.printable)"
                    }
            }
        }
        let shown = section.columns.indices.filter { !section.columns[$0].isAdvice }
        // If the section has a column for advice, its table leaves out the details of the findings, because ``advice``
        // shows them.
        let isAdvised = shown.count < section.columns.count
        let hidesCommands = report.style.hidesCommands && !layout.isKept
        let hasLines = section.columns.contains { $0.title == "line" }
        let places = section.findings.map { finding in
            finding.place.flatMap {
                $0.file == section.name && $0.line > 0 && !hasLines ? "\($0.line):\($0.column)" : nil
            }
        }
        let hasPlaces = places.contains { $0 != nil }
        let columns = (hasPlaces ? ["place"] : []) + shown.map { section.columns[$0] }
        let rows = zip(section.findings, places).map { finding, place in
            let cells = (hasPlaces ? [Report.Cell(place ?? "")] : []) + shown.map { finding.cells[$0] }
            let commands = hidesCommands ? [] : finding.commands
            return (cells: cells, below: (isAdvised ? [] : finding.details) + commands)
        }
        return grid(columns, rows)
    }

    /// Returns the lines of a table; each row is followed by the texts in its `below`.
    ///
    /// If the table is too wide for the terminal even with wrapped cells, it has only the columns that fit. The cells
    /// of the other columns follow below their row, each with the title of its column.
    private func grid(_ columns: [Report.Column], _ rows: [(cells: [Report.Cell], below: [String])]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let grid = TextGrid(columns: columns, rows: rows.map(\.cells), paint: paint)
        let wrapped = grid.lines(within: layout.width)
        let count = wrapped == nil ? grid.fittingColumns(within: layout.width ?? 0) : columns.count
        guard let lines = wrapped ?? grid.prefix(count).lines(within: nil) else { return [] }
        let others = columns.dropFirst(count)
        return lines.titles
            + zip(lines.rows, rows).flatMap { lines, row in
                let cells = zip(others, row.cells.dropFirst(count)).filter { !$1.text.isEmpty }.map { column, cell in
                    let text = cell.text.printable
                    return "\(column.title): \(cell.level.map { paint($0, text) } ?? text)"
                }
                let areShort = !cells.isEmpty && others.allSatisfy(\.isNumber)
                let below = (areShort ? [cells.joined(separator: ", ")] : cells) + row.below.map(\.printable)
                return lines + below.map { "    \($0)" }
            }
    }

    /// The lines with the advice on the findings; findings with the same rule and the same advice share their lines.
    ///
    /// The worst findings come first.
    private var advice: [String] {
        let findings = report.sections.flatMap { section in
            section.columns.firstIndex(where: \.isAdvice).map { column in
                section.findings.map {
                    (finding: $0, lines: [$0.cells[column].text] + $0.details, subject: "\(section.name) \($0.subject)")
                }
            } ?? []
        }
        let kinds = findings.grouped { [$0.finding.code] + $0.lines }.map(\.elements)
        guard !kinds.isEmpty else { return [] }
        let sorted = Report.Level.allCases.reversed().flatMap { level in
            kinds.filter { $0[0].finding.level == level }
        }
        return [paint.bold("What to do")]
            + sorted.flatMap { kind in
                let more = kind.count > 3 ? " and \((kind.count - 3).grouped) more" : ""
                let subjects = kind.prefix(3).map(\.subject).joined(separator: ", ").printable
                return ["  \(paint(kind[0].finding.level, kind[0].finding.code)): \(subjects)\(more)"]
                    + kind[0].lines.map { "    \($0.printable)" }
            }
    }
}
