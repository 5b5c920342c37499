package import BSON
import Mustache

/// A report as one self-contained HTML file, without network access and without scripts.
///
/// The template decides what is shown and in which order; ``HTMLPage`` has the values. The template's first line
/// selects ``MarkupText`` to escape every text.
package struct HTMLReport {
    private let report: Report
    private let time: ServerTime?

    /// Wraps a report.
    /// - Parameter time: the time of the result; `nil` to show none.
    package init(_ report: Report, at time: ServerTime? = nil) { (self.report, self.time) = (report, time) }

    /// The report as HTML, which ends with a line break.
    package var text: String {
        MustacheContentTypes.register(MarkupText(), named: "REPORT")
        do {
            return try MustacheTemplate(string: HTMLTemplate.text).render(HTMLPage(report, at: time))
        } catch {
            // The template is a constant that every test of HTML reports parses, so no run reaches this line.
            preconditionFailure("the template cannot be read: \(error)")
        }
    }
}

/// Escapes the texts that the template inserts.
private struct MarkupText: MustacheContentType {
    func escapeText(_ text: String) -> String { Markup.line(text) }
}

/// The values that the template shows.
///
/// Mustache looks for a name first in a nested value, and then in the value around it. A nested type therefore has no
/// property with the same name as a property of the type around it.
struct HTMLPage {
    let title, command, headline, level, style: String
    let version = Release.text
    let parts: [Part]
    let facts: [Report.Fact]
    /// The number of facts, and half of this number, rounded up: the facts in each row if they need two rows.
    let factCount, factHalf: Int
    let gauges: [HTMLGauge]
    let series: [HTMLSeries]
    let charts: [HTMLChart]
    let tables: [Table]
    let sections: [Section]
    let notes, times: [String]

    init(_ report: Report, at time: ServerTime?) {
        times = [time].compactMap(\.self).map(\.description)
        title = report.title
        command = report.command
        headline = report.headline
        level = report.level.rawValue
        style = HTMLStyle.text
        parts = report.parts.map { Part($0) }
        facts = report.figures.facts
        (factCount, factHalf) = (facts.count, max(1, (facts.count + 1) / 2))
        gauges = report.figures.gauges.enumerated().map { HTMLGauge($1, number: $0) }
        series = report.figures.series.enumerated().map { HTMLSeries($1, number: $0) }
        charts = report.figures.charts.filter { !$0.bars.isEmpty }.map { HTMLChart($0) }
        tables = report.allTables.filter { !$0.rows.isEmpty }.map { Table($0) }
        sections = report.allSections.enumerated().map { Section($1, number: $0) }
        notes = report.allNotes
    }

    struct Part {
        let part, word, partLevel, sentence: String
        let reasons: [String]
        let hasReasons: Bool
        /// Whether the part of the verdict has more than three reasons, which are too many for a narrow column.
        let isLong: Bool

        init(_ part: Report.Part) {
            (self.part, word, sentence) = (part.name, part.word, part.sentence)
            partLevel = part.level.rawValue
            reasons = part.reasons
            (hasReasons, isLong) = (!reasons.isEmpty, reasons.count > 3)
        }
    }

    struct Column {
        let head, kind: String

        init(_ column: Report.Column) {
            head = column.title
            kind = column.isNumber ? "number" : "words"
        }
    }

    struct Cell {
        /// The title of the cell's column; a phone shows it next to the cell, because it hides the table's column
        /// heads.
        let label: String
        let kind, text, cellLevel: String
        let isBadge, isCode, isPlain: Bool

        init(_ cell: Report.Cell, _ column: Report.Column) {
            label = column.title
            kind = column.isNumber ? "number" : "words"
            text = cell.text
            cellLevel = cell.level?.rawValue ?? ""
            isBadge = cell.level != nil
            isCode = cell.isCode && !isBadge
            isPlain = !isCode && !isBadge
        }
    }

    struct Table {
        let caption: String
        let columns: [Column]
        let rows: [Row]

        init(_ table: Report.Table) {
            caption = table.title
            columns = table.columns.map { Column($0) }
            rows = table.rows.map { row in Row(cells: zip(row, table.columns).map { Cell($0, $1) }) }
        }
    }

    struct Row { let cells: [Cell] }

    struct Section {
        let anchor, name, summary: String
        let columns: [Column]
        let findings: [Finding]
        let remarks: [String]
        let hasFindings, hasSummary: Bool

        init(_ section: Report.Section, number: Int) {
            anchor = "section-\(number + 1)"
            name = section.name
            summary = [section.about, section.summary].filter { !$0.isEmpty }.joined(separator: ": ")
            columns = section.columns.map { Column($0) }
            findings = section.findings.map { Finding($0, section.columns) }
            remarks = section.remarks
            (hasFindings, hasSummary) = (!findings.isEmpty, !summary.isEmpty)
        }
    }

    struct Finding {
        let cells: [Cell]
        let details, commands: [String]
        let place: String
        let hasMore, hasPlace: Bool
        let span: Int

        init(_ finding: Report.Finding, _ columns: [Report.Column]) {
            cells = zip(finding.cells, columns).map { Cell($0, $1) }
            (details, commands) = (finding.details, finding.commands)
            place = finding.place.map { "\($0)" } ?? ""
            hasPlace = !place.isEmpty
            hasMore = !details.isEmpty || !commands.isEmpty || hasPlace
            span = columns.count
        }
    }
}
