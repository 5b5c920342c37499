import Checking
import TextTable

/// Which documents begin to fail, fail already or are healed: a table of a row per collection.
struct CheckReportChanges {
    private let active: String
    private let rows: [Row]
    private let hasPossible: Bool

    private typealias Row = (name: String, changes: VerdictChanges)

    /// `nil` when there is no active schema to compare with.
    init?(_ report: CheckReport) {
        guard let total = report.total.changes, let active = report.active else { return nil }
        self.active = active
        let collections = report.collections.compactMap { collection in
            collection.counts.changes.map { ("\(collection.namespace)", $0) }
        }.filter { $0.1 != VerdictChanges() }
        rows = collections.count == 1 ? collections : collections + [("total", total)]
        hasPossible = total.newlyPossible + total.alreadyPossible + total.possiblyHealed > 0
    }

    var text: String {
        let table = TextTable<Row> { row in
            var columns = [
                Column(title: "", value: row.name),
                Column(title: "newly failing", value: row.changes.newlyFailing.grouped, align: .right),
                Column(title: "already failing", value: row.changes.alreadyFailing.grouped, align: .right),
                Column(title: "healed", value: row.changes.healed.grouped, align: .right),
            ]
            if hasPossible {
                columns += [
                    Column(title: "possibly: newly", value: row.changes.newlyPossible.grouped, align: .right),
                    Column(title: "already", value: row.changes.alreadyPossible.grouped, align: .right),
                    Column(title: "healed", value: row.changes.possiblyHealed.grouped, align: .right),
                ]
            }
            return columns
        }
        let lines = (table.string(for: rows) ?? "").split(separator: "\n")
        // The ruler says nothing in a table of so few rows.
        let kept = lines.enumerated().filter { $0.offset != 1 }.map { "  \($0.element.trimmedEnd)" }
        return (["Beside \(active):"] + kept).asLines
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
