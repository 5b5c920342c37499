import BSON
import ServerSchema

/// A report as text, for a terminal, a pipe or a file.
///
/// The verdict comes first.
package struct TextReport {
    private let report: Report
    private let layout: TextLayout
    private let paint: Paint

    package init(_ report: Report, _ layout: TextLayout = TextLayout()) {
        (self.report, self.layout) = (report, layout)
        paint = Paint(isOn: layout.isColored)
    }

    /// The report as text, which ends with a line break; only the verdict, if the user wants no notes.
    package var text: String {
        let blocks = layout.isQuiet ? [headline] : [body] + [report.next.asLines].filter { !$0.isEmpty }
        return blocks.joined(separator: "\n\n").fitted(to: layout.width) + "\n"
    }

    /// The text without its end, which proposes the next commands.
    private var body: String {
        let notes = report.notes + report.warnings
        // The reasons for the headline come first.
        let parts = report.parts.filter { $0.sentence == report.headline }
        let others = report.parts.filter { $0.sentence != report.headline }
        let ofParts = (isCompact ? parts + others : report.parts).flatMap(lines)
        var blocks = [[headline] + ofParts + report.lines.map { "  \($0.printable)" }]
        blocks += report.figures.series.filter(\.showsLatest).map(lines)
        blocks += report.tables.filter { !$0.rows.isEmpty }.map(lines)
        blocks +=
            isCompact && !report.style.listsFindings
            ? [CompactSections(report, layout, paint).lines] : report.sections.map(lines)
        blocks.append(advice)
        blocks += report.reports.map { name, report in
            [paint.bold("In \(name.printable): ") + TextReport(report, layout).body]
        }
        blocks += [notes.map { "Note: \($0.printable)" }, [report.figures.footer].compactMap { $0?.printable }]
        return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var isCompact: Bool { report.style.isCompact && !layout.isKept }

    private var headline: String {
        let text = report.headline.printable
        return report.level == .notice ? paint.bold(text) : paint(report.level, text)
    }

    /// Returns a line with the part of the verdict, and lines with its reasons.
    ///
    /// In the compact form, a part that is plainly safe or that the user did not ask for has no line. A part without
    /// figures that the headline states has only lines with its reasons.
    private func lines(_ part: Report.Part) -> [String] {
        let reasons = part.reasons.map { "    \($0.printable)" }
        if isCompact {
            if part.sentence == report.headline, part.figures == nil { return part.reasons.map { "  \($0.printable)" } }
            if part.level <= .notice, reasons.isEmpty { return [] }
        }
        let text = (part.figures ?? part.sentence).printable
        let words = (text.hasSuffix(".") ? String(text.dropLast()) : text).wrapped(to: layout.width, indent: 23)
        let head = "  \(part.name.padded(to: 9))  \(paint(part.level, part.word.padded(to: 8)))  "
        return [head + (words.first ?? "").dropFirst(23)] + words.dropFirst() + reasons
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
        [paint.heading(section)] + findings(of: section) + section.remarks.map(\.printable)
    }

    private func findings(of section: Report.Section) -> [String] {
        if report.style.listsFindings || section.columns.count < 2 {
            return section.findings.flatMap { finding in
                let message = finding.message.printable
                let asides = finding.commands.isEmpty ? finding.asides : []
                let lines =
                    isCompact
                    ? joined(asides.map(shortened) + finding.remarks) + finding.commands : asides + below(finding)
                return ["  " + (finding.level > .notice ? paint(finding.level, message) : message)]
                    + lines.filter { !$0.isEmpty }.map { "    \($0.printable)" }
            }
        }
        let shown = section.columns.indices.filter { !section.columns[$0].isAdvice }
        // If the section has a column for advice, its table leaves out the details of the findings, because ``advice``
        // shows them.
        let isAdvised = shown.count < section.columns.count
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
            return (cells: cells, below: isAdvised ? finding.commands : below(finding))
        }
        return grid(columns, rows)
    }

    /// Returns the details of a finding in one line; commands for mongosh follow, to be copied.
    private func joined(_ details: [String]) -> [String] {
        let words = details.filter { !$0.hasMongoshCommand }.map { $0.hasPrefix("suggested: ") ? shortened($0) : $0 }
        return [words.joined(separator: "; ")] + details.filter(\.hasMongoshCommand)
    }

    /// Returns a step, whose end is cut off if it is longer than two lines of a terminal.
    private func shortened(_ step: String) -> String { step.count > 160 ? step.prefix(159) + "…" : step }

    private func below(_ finding: Report.Finding) -> [String] {
        finding.remarks + finding.commands + (report.style.showsFilters || layout.isKept ? finding.filters : [])
    }

    /// Returns the lines of a table; each row is followed by the texts in its `below`.
    ///
    /// If the table is too wide for the terminal even with wrapped cells, it has only the columns that fit. The cells
    /// of the other columns follow below their row, each with the title of its column.
    private func grid(_ columns: [Report.Column], _ rows: [(cells: [Report.Cell], below: [String])]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let grid = TextGrid(columns: columns, rows: rows.map(\.cells), paint: paint).fitting(layout.width)
        let wrapped = grid.lines(within: layout.width)
        let count = wrapped == nil ? grid.fittingColumns(within: layout.width ?? 0) : grid.columns.count
        guard let lines = wrapped ?? grid.prefix(count).lines(within: nil) else { return [] }
        let others = grid.columns.dropFirst(count)
        return lines.titles
            + zip(lines.rows, zip(grid.rows, rows)).flatMap { lines, pair in
                let (shown, row) = pair
                let cells = zip(others, shown.dropFirst(count)).filter { !$1.text.isEmpty }.map { column, cell in
                    let text = cell.text.printable
                    return "\(column.title): \(cell.level.map { paint($0, text) } ?? text)"
                }
                let areShort = !cells.isEmpty && others.allSatisfy(\.isNumber)
                let below = (areShort ? [cells.joined(separator: ", ")] : cells) + row.below.map(\.printable)
                return lines + below.map { "    \($0)" }
            }
    }

    /// The lines with the advice on the findings; findings with the same rule and the same advice share them, and each
    /// detail has a line with the rules to which it applies.
    ///
    /// The worst findings come first.
    private var advice: [String] {
        let findings = report.sections.flatMap { section in
            section.columns.firstIndex(where: \.isAdvice).map { column in
                section.findings.map {
                    (finding: $0, advice: $0.cells[column].text, subject: "\(section.name) \($0.subject)")
                }
            } ?? []
        }
        func details(_ finding: Report.Finding) -> [String] { layout.isKept ? finding.remarks : finding.details }
        let unsorted = findings.grouped { [$0.finding.code, $0.advice] + details($0.finding) }.map(\.elements)
        guard !unsorted.isEmpty else { return [] }
        let kinds = Report.Level.allCases.reversed().flatMap { level in
            unsorted.filter { $0[0].finding.level == level }
        }
        let names = kinds.map { kind in
            let more = kind.count > 3 ? " and \((kind.count - 3).grouped) more" : ""
            let subjects = kind.prefix(3).map(\.subject).joined(separator: ", ").printable + more
            return (code: kind[0].finding.code, subjects: subjects)
        }
        let lines = kinds.indices.flatMap { kind in
            details(kinds[kind][0].finding).map { (line: $0, kind: kind) }
        }.grouped(by: \.line).map { (line: $0.key, kinds: $0.elements.map(\.kind)) }.grouped(by: \.kinds)
        return [paint.bold("What to do")]
            + zip(kinds, names).flatMap { kind, name in
                ["  \(paint(kind[0].finding.level, name.code)): \(name.subjects)", "    \(kind[0].advice.printable)"]
            }
            + lines.flatMap { kinds, lines in
                let all = names.indices.grouped { names[$0].code }
                // A code stands for all its kinds.
                let named = kinds.grouped { names[$0].code }.map { code, own in
                    let isWhole = all.contains { $0.key == code && $0.elements == own }
                    return isWhole ? code : own.map { "\(code) \(names[$0].subjects)" }.joined(separator: ", ")
                }
                return ["  For \(named.joined(separator: ", ")):"] + lines.map { "    \($0.line.printable)" }
            }
    }
}
