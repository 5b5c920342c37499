import BSON
import ServerSchema

/// The sections of a report in about 50 lines: one table for the findings of all sections, and one line for all
/// sections whose documents have none.
struct CompactSections {
    private let sections: [Report.Section]
    private let layout: TextLayout
    private let paint: Paint
    private let showsFilters: Bool
    /// The remarks that several sections have, each with the number of the sections.
    private let shared: [(remark: String, count: Int)]

    /// The numbers of lines for up to ``fewFindings`` and for more; with the headline and the end they fit on 40 and 60
    /// lines.
    private static let (fewLines, mostLines) = (29, 48)
    private static let fewFindings = 20
    private static let screen = 24

    init(_ report: Report, _ layout: TextLayout, _ paint: Paint) {
        (self.layout, self.paint, showsFilters) = (layout, paint, report.style.showsFilters)
        let remarks = report.sections.flatMap(\.remarks).grouped { $0 }.filter { $0.elements.count > 1 }
        shared = remarks.map { ($0.key, $0.elements.count) }
        let common = Set(shared.map(\.remark))
        sections = report.sections.map { section in
            var section = section
            section.remarks.removeAll(where: common.contains)
            return section
        }
    }

    /// The lines of the sections with their findings, then of the sections without any, then what is left out.
    var lines: [String] {
        let isSilent = { (section: Report.Section) in
            section.uniform != nil && section.about.isEmpty && section.remarks.isEmpty
        }
        let (silent, speaking) = (sections.filter(isSilent), sections.filter { !isSilent($0) })
        let isShort = speaking.reduce(0) { $0 + $1.findings.count } <= Self.fewFindings
        let most = showsFilters ? .max : isShort ? Self.fewLines : Self.mostLines
        // The headings have at most two thirds of the lines.
        var room = most / 3 * 2
        let shown = Array(
            speaking.prefix { section in
                room -= height(of: [paint.heading(section)] + section.remarks)
                return room >= 0
            })
        let findings = zip(shown, shares(of: shown, in: room + most / 3)).map { $0.findings.prefix($1) }
        let rows = rows(of: findings, in: shown)
        let omitted = speaking.reduce(0) { $0 + $1.findings.count } - findings.reduce(0) { $0 + $1.count }
        return zip(shown, rows).flatMap { section, rows in
            [paint.heading(section)] + rows + section.remarks.map { "  \($0.printable)" }
        } + rest(omitted, of: speaking.count - shown.count)
            + silent.grouped { $0.uniform?.words ?? "" }.map { words, sections in
                let documents = sections.reduce(0) { $0 + ($1.uniform?.documents ?? 0) }
                let others = "\(sections.count.grouped) \(speaking.isEmpty ? "" : "other ")collections"
                let names = sections.count > 3 ? others : sections.map(\.name).joined(separator: ", ")
                return "\(paint.bold(names.printable)): \(documents.documents) read, \(words)"
            } + shared.map { "\($0.count.grouped) collections: \($0.remark.printable)" }
    }

    private func rest(_ findings: Int, of sections: Int) -> [String] {
        guard findings + sections > 0 else { return [] }
        let place = sections > 0 ? [sections.counted("more collection")] : []
        let more = (findings > 0 ? [findings.counted("more finding")] : []) + place
        return ["… and \(more.joined(separator: " and ")): --report FILE lists them"]
    }

    /// Returns how many findings of each section fit in the lines; the sections get them in turn.
    private func shares(of sections: [Report.Section], in lines: Int) -> [Int] {
        // The titles of the table have a line, too.
        var room = lines - 1
        var (shares, open) = (sections.map { _ in 0 }, Array(sections.indices))
        while !open.isEmpty {
            open.removeAll { section in
                guard let next = sections[section].findings.dropFirst(shares[section]).first,
                    height(of: [next]) <= room
                else { return true }
                (shares[section], room) = (shares[section] + 1, room - height(of: [next]))
                return false
            }
        }
        return shares
    }

    private func height(of findings: some Sequence<Report.Finding>) -> Int {
        findings.reduce(0) { $0 + 1 + height(of: $1.details.map { "    \($0)" }) }
    }

    /// The number of lines that texts have on the terminal, where a long one continues below.
    private func height(of texts: [String]) -> Int {
        texts.reduce(0) { $0 + 1 + $1.fitted(to: layout.width).count { $0 == "\n" } }
    }

    /// Returns the lines of the tables' rows for each section; the titles are above the first row.
    ///
    /// All rows with the same columns have the same widths. A table that is too wide leaves out columns, and then wraps
    /// its cells. Without a column for a sample, the sample follows below its row, if a small screen shows them all.
    private func rows(of findings: [ArraySlice<Report.Finding>], in sections: [Report.Section]) -> [[String]] {
        let hasRoom = findings.reduce(0) { $0 + 2 + 2 * height(of: $1) } <= Self.screen
        var result = sections.map { _ in [String]() }
        for (_, members) in sections.indices.grouped(by: { sections[$0].columns.map(\.title) }) {
            let entries = members.flatMap { member in findings[member].map { (member, finding: $0) } }
            guard let first = entries.first?.0 else { continue }
            let hasSamples = entries.contains { !$0.finding.samples.isEmpty }
            let sample = hasSamples ? [Report.Column(title: "such as _id", omission: 3)] : []
            let cells = entries.map { entry in entry.finding.cells + sample.map { _ in short(entry.finding.samples) } }
            let whole = TextGrid(columns: sections[first].columns + sample, rows: cells, paint: paint)
            let grid = whole.fitting(layout.width)
            guard let lines = grid.lines(within: layout.width) ?? grid.lines(within: nil) else { continue }
            let isBelow = hasRoom && grid.columns.last?.title != sample.last?.title
            for (entry, lines) in zip(entries, lines.rows) {
                let (member, finding) = entry
                let sample = isBelow ? finding.samples.prefix(1).map { "such as _id \($0)" } : []
                let below = sample + finding.details + finding.commands + (showsFilters ? finding.filters : [])
                result[member] += lines + below.map { "    \($0.printable)" }
            }
            result[first] = lines.titles + result[first]
        }
        return result
    }

    /// Returns the first sample, as a cell without the words around the digits of an ObjectId.
    private func short(_ samples: [String]) -> Report.Cell {
        Report.Cell((samples.first ?? "").replacing(/^ObjectId\("([0-9a-f]{24})"\)/) { $0.1 })
    }
}
