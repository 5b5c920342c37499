package import BSON
import ServerSchema

/// A report as one self-contained HTML file, without network access and without scripts.
package struct HTMLReport {
    private let report: Report
    private let time: ServerTime?

    /// Wraps a report.
    /// - Parameter time: the time of the result; `nil` to show none.
    package init(_ report: Report, at time: ServerTime? = nil) { (self.report, self.time) = (report, time) }

    /// The report as HTML, which ends with a line break.
    package var text: String {
        let moment: HTML = time.map { " · <time>\($0.description)</time>" } ?? ""
        let file: HTML = report.file.map { " · <code>\($0)</code>" } ?? ""
        let source: HTML = report.figures.footer.map { "<p class=\"source\">\(sentence: $0)</p>\n" } ?? ""
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
            img-src data:">
            <link rel="icon" href="data:,">
            <title>\(report.title)</title>
            <style>
            \(HTML(stringLiteral: HTMLStyle.text))</style>
            </head>
            <body>
            <svg class="sheet" aria-hidden="true" focusable="false">
            <symbol id="icon-good" viewBox="0 0 16 16"><path d="M3 8.5l3.2 3.2L13 4.8"/></symbol>
            <symbol id="icon-notice" viewBox="0 0 16 16"><path d="M8 7v5M8 4v.4"/></symbol>
            <symbol id="icon-warning" viewBox="0 0 16 16"><path d="M8 3.5v5.5M8 12v.4"/></symbol>
            <symbol id="icon-error" viewBox="0 0 16 16"><path d="M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6"/></symbol>
            </svg>
            <header class="banner \(report.level)">
            <p class="eyebrow">shipshape \(report.command)\(file)\(moment)</p>
            <h1>\(report.title)</h1>
            <p class="headline"><span class="disc \(report.level)">\(icon(report.level))</span>\
            <span>\(sentence: report.headline)</span></p>
            \(source)</header>
            <main>
            \([parts, facts] + figures + tables + sections + [notes, next])</main>
            <footer>
            <p class="release">shipshape \(Release.text)</p>
            </footer>
            </body>
            </html>

            """
        return page.text
    }

    private var parts: HTML {
        let cards = report.parts.map { part -> HTML in
            // More than three reasons are too many for a narrow column.
            let width = part.reasons.count > 3 ? " long" : ""
            return """
                <article class="card \(part.level)\(width)">
                <h2>\(part.name) \(badge(part.word, part.level))</h2>
                <p class="sentence">\(sentence: part.sentence)</p>
                \(list(part.reasons))</article>

                """
        }
        let head = "<section class=\"parts\" aria-label=\"The parts of the verdict\">\n" as HTML
        return cards.isEmpty ? "" : "\(head)\(cards)</section>\n"
    }

    private var facts: HTML {
        let facts = report.figures.facts
        guard !facts.isEmpty else { return "" }
        // If the facts need two rows, the first row has half of them.
        return """
            <dl class="facts" style="--count:\(facts.count);--half:\((facts.count + 1) / 2)">
            \(facts.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>\n" })</dl>

            """
    }

    private var figures: [HTML] {
        let charts = report.figures.charts.filter { !$0.bars.isEmpty }.map(HTMLFigures.chart)
        return report.figures.gauges.enumerated().map { HTMLFigures.gauge($1, id: "gauge-\($0 + 1)") }
            + report.figures.series.enumerated().map { HTMLFigures.series($1, id: "series-\($0 + 1)") }
            + (charts.isEmpty ? [] : ["<div class=\"charts\">\n\(charts)</div>\n"])
    }

    private var tables: [HTML] {
        report.allTables.filter { !$0.rows.isEmpty }.map { table in
            """
            <section class="panel">
            <div class="scroll" tabindex="0" role="region" aria-label="\(table.title)">
            <table>
            <caption>\(table.title)</caption>
            \(head(table.columns))
            <tbody>
            \(table.rows.map { "<tr>\(zip($0, table.columns).map(cell))</tr>\n" })</tbody>
            </table>
            </div>
            </section>

            """
        }
    }

    private var sections: [HTML] {
        report.allSections.enumerated().map { index, section in
            let anchor = "section-\(index + 1)"
            let summary = [section.about, section.summary].filter { !$0.isEmpty }.joined(separator: ": ")
            let findings = section.findings.map { finding($0, section.columns) }
            return """
                <section class="findings" aria-labelledby="\(anchor)">
                <h2 id="\(anchor)">\(section.name)</h2>
                \(summary.isEmpty ? "" : "<p class=\"summary\">\(sentence: summary)</p>\n" as HTML)\
                \(findings.isEmpty ? "" : "<table class=\"cards\">\n\(head(section.columns))\n\(findings)</table>\n" as HTML)\
                \(section.remarks.map { "<p class=\"remark\">\(sentence: $0)</p>\n" })</section>

                """
        }
    }

    private func finding(_ finding: Report.Finding, _ columns: [Report.Column]) -> HTML {
        let cells = zip(finding.cells, columns).map { cell, column -> HTML in
            let verdict = cell.level.map { badge(cell.text, $0) }
            let text: HTML = cell.isCode ? "<code>\(cell.text)</code>" : "<span>\(cell.text)</span>"
            // A phone shows the title next to the cell, because it hides the heads of the columns.
            return "<td class=\"\(column.kind)\" data-label=\"\(column.title)\">\(verdict ?? text)</td>"
        }
        let more: [HTML] =
            (finding.place.map { ["<p class=\"place\"><code>\($0.description)</code></p>"] } ?? [])
            + finding.remarks.map { "<p>\(sentence: $0)</p>" }
            + finding.commands.map(code)
            + (finding.filters.isEmpty
                ? [] : ["<details><summary>Filter</summary>\(finding.filters.map(code))</details>"])
        let row = "<tr class=\"more\"><td colspan=\"\(columns.count)\">\(more)</td></tr>\n" as HTML
        return "<tbody>\n<tr>\(cells)</tr>\n\(more.isEmpty ? "" : row)</tbody>\n"
    }

    private func code(_ command: String) -> HTML { "<pre tabindex=\"0\"><code>\(command)</code></pre>" }

    private var notes: HTML {
        guard !report.allNotes.isEmpty else { return "" }
        return """
            <section class="panel notes" aria-labelledby="notes">
            <h2 id="notes">Notes</h2>
            \(list(report.allNotes))</section>

            """
    }

    /// The commands to run next; a click selects a whole command, so that it can be copied.
    private var next: HTML {
        guard !report.next.isEmpty else { return "" }
        let lines = report.next.map { line -> HTML in
            guard let start = line.firstRange(of: "shipshape ")?.lowerBound else { return "<p>\(sentence: line)</p>\n" }
            return "<p>\(String(line[..<start])) <code>\(String(line[start...]))</code></p>\n"
        }
        return "<section class=\"panel next\" aria-label=\"Next\">\n\(lines)</section>\n"
    }

    private func list(_ lines: [String]) -> HTML {
        lines.isEmpty ? "" : "<ul>\n\(lines.map { "<li>\(sentence: $0)</li>\n" })</ul>\n"
    }

    private func icon(_ level: Report.Level) -> HTML {
        "<svg class=\"icon\" aria-hidden=\"true\"><use href=\"#icon-\(level)\"/></svg>"
    }

    private func badge(_ text: String, _ level: Report.Level) -> HTML {
        "<span class=\"badge \(level)\">\(icon(level))\(text)</span>"
    }

    private func head(_ columns: [Report.Column]) -> HTML {
        "<thead><tr>\(columns.map { "<th scope=\"col\" class=\"\($0.kind)\">\($0.title)</th>" })</tr></thead>"
    }

    private func cell(_ cell: Report.Cell, _ column: Report.Column) -> HTML {
        let verdict = cell.level.map { "<span class=\"badge \($0)\">\(cell.text)</span>" as HTML }
        let text: HTML = cell.isCode ? "<code>\(cell.text)</code>" : "\(cell.text)"
        return "<td class=\"\(column.kind)\">\(verdict ?? text)</td>"
    }
}

extension Report.Column {
    /// The class of the column's cells in the style sheet.
    fileprivate var kind: String { isNumber ? "number" : "words" }
}
