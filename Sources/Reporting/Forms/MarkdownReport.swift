import BSON

/// A report as Markdown, for a comment on a pull request.
package struct MarkdownReport {
    private let report: Report

    package init(_ report: Report) { self.report = report }

    /// The report as Markdown, which ends with a line break.
    package var text: String {
        var blocks = ["### \(Self.cell(report.title))", "\(mark(report.level)) **\(Self.cell(report.headline))**"]
        if !report.parts.isEmpty { blocks.append(report.parts.map(part).joined(separator: "\n")) }
        blocks += findings + report.allTables.filter { !$0.rows.isEmpty }.map(table)
        blocks += report.allSections.filter { section in
            !section.remarks.isEmpty || section.findings.isEmpty && !section.summary.isEmpty
        }.map(about)
        if !commands.isEmpty { blocks.append(commands) }
        if !report.allNotes.isEmpty {
            blocks.append(report.allNotes.map { "> \(Self.cell($0))" }.joined(separator: "\n>\n"))
        }
        if !report.figures.facts.isEmpty {
            let facts = report.figures.facts.map { "\(Self.cell($0.name)): \(Self.cell($0.value))" }
            blocks.append("<sub>\(facts.joined(separator: " · "))</sub>")
        }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private func part(_ part: Report.Part) -> String {
        let reasons = part.reasons.map { "\n  - \(Self.cell($0))" }.joined()
        return "- \(mark(part.level)) **\(Self.cell(part.name))**: \(Self.cell(part.sentence))\(reasons)"
    }

    /// The findings as tables, whose first column is the section; adjacent sections with the same columns share a
    /// table.
    private var findings: [String] {
        var tables: [(columns: [Report.Column], rows: [[Report.Cell]])] = []
        for section in report.allSections where !section.findings.isEmpty {
            let columns = [Report.Column(title: report.style.sectionKind)] + section.columns
            let rows = section.findings.map { finding in
                [.code(section.name)] + finding.cells
            }
            if let last = tables.indices.last, tables[last].columns.map(\.title) == columns.map(\.title) {
                tables[last].rows += rows
            } else {
                tables.append((columns, rows))
            }
        }
        return tables.map { grid($0.columns, $0.rows) }
    }

    private func table(_ table: Report.Table) -> String {
        "**\(Self.cell(table.title))**\n\n" + grid(table.columns, table.rows)
    }

    private func grid(_ columns: [Report.Column], _ rows: [[Report.Cell]]) -> String {
        let lines =
            [columns.map { Self.cell($0.title) }, columns.map { $0.isNumber ? "---:" : "---" }]
            + rows.map { $0.map(text) }
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    private func about(_ section: Report.Section) -> String {
        let about = section.about.isEmpty ? "" : " (\(Self.cell(section.about)))"
        let summary = section.summary.isEmpty ? [] : [section.summary]
        return "\(Self.code(section.name))\(about): "
            + (summary + section.remarks).map(Self.cell).joined(separator: "\\\n")
    }

    /// A collapsed block with the commands of all findings, for the reader to copy; empty if no finding has a command.
    private var commands: String {
        let lines = report.findings.flatMap { _, finding in finding.commands + finding.filters }
        guard !lines.isEmpty else { return "" }
        let text = lines.map(\.printable).joined(separator: "\n")
        let fence = String(repeating: "`", count: max(3, Self.longestTicks(in: text) + 1))
        return "<details><summary>Commands to copy</summary>\n\n\(fence)\n\(text)\n\(fence)\n\n</details>"
    }

    private func text(_ cell: Report.Cell) -> String {
        if let level = cell.level { return "\(mark(level)) \(Self.cell(cell.text))" }
        return cell.isCode ? Self.code(cell.text) : Self.cell(cell.text)
    }

    private func mark(_ level: Report.Level) -> String {
        switch level {
        case .good: "🟢"
        case .notice: "🔵"
        case .warning: "🟡"
        case .error: "🔴"
        }
    }

    /// Returns text escaped for Markdown, for example for a table cell.
    ///
    /// The text cannot end the cell, and cannot become emphasis, code, a tag, a web link or a mention of a user.
    static func cell(_ text: String) -> String {
        var result = ""
        for character in text.printable {
            // GitHub turns a web address, such as "www.example.com", into a link even without any markup. The
            // zero-width space prevents that.
            if character == "/", result.hasSuffix(":") || result.hasSuffix("/") { result += broken }
            if character == ".", result.lowercased().hasSuffix("www") { result += broken }
            if "\\`*_{}[]<>|~&#".contains(character) { result.append("\\") }
            result.append(character)
            if character == "@" || character == "#" { result += broken }
        }
        return result
    }

    /// A zero-width space, which splits a word so that GitHub finds no link or mention in it.
    private static let broken = "&#8203;"

    /// Returns text as code for a table cell, with each `|` escaped, because even within code it would end the cell.
    private static func code(_ text: String) -> String {
        let plain = text.printable
        guard !plain.isEmpty else { return "" }
        let longest = longestTicks(in: plain)
        let fence = String(repeating: "`", count: longest + 1)
        let gap = longest > 0 ? " " : ""
        return fence + gap + plain.replacing("|", with: "\\|") + gap + fence
    }

    private static func longestTicks(in text: String) -> Int {
        text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
    }
}
