import BSON
import Checking
import TextTable

/// A table of how many documents newly fail, already fail or are fixed, with a row per collection.
struct CheckReportChanges {
    private let active: String
    private let rows: [(name: String, changes: VerdictChanges)]
    private let hasPossible: Bool

    /// Creates the table; `nil` without an active schema to compare with.
    init?(_ report: CheckReport) {
        guard let total = report.total.changes, let active = report.active else { return nil }
        self.active = active
        let collections = report.collections.compactMap { collection in
            collection.counts.changes.map { ("\(collection.namespace)", $0) }
        }.filter { $0.1 != VerdictChanges() }
        rows = collections.count == 1 ? collections : collections + [("total", total)]
        hasPossible = total.newlyPossible + total.alreadyPossible + total.possiblyHealed > 0
    }

    func text(width: Int?) -> String { (["\(table.title):"] + TextTable.lines(of: table, width: width)).asLines }

    var table: Report.Table {
        let certain = ["newly failing", "already failing", "fixed"]
        let possible = hasPossible ? ["possibly: newly", "already", "fixed"] : []
        return Report.Table(
            title: "Compared with \(active)",
            columns: [Report.Column(title: "")] + (certain + possible).map { Report.Column(title: $0, isNumber: true) },
            rows: rows.map { name, changes in
                let certain = [changes.newlyFailing, changes.alreadyFailing, changes.healed]
                let possible =
                    hasPossible ? [changes.newlyPossible, changes.alreadyPossible, changes.possiblyHealed] : []
                return [Report.Cell(name)] + (certain + possible).map { Report.Cell($0.grouped) }
            })
    }
}
