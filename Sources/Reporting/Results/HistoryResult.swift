import BSON
import ServerSchema

/// The trend over the checks that a history keeps, in every output format.
package struct HistoryResult: Reportable {
    private let history: CheckHistory
    private let place: String
    private let shown: Range<Int>

    /// Wraps a history of checks.
    /// - Parameters:
    ///   - place: the folder or the database that keeps the history.
    ///   - last: how many of the newest checks are shown.
    package init(_ history: CheckHistory, place: String, last: Int) {
        (self.history, self.place) = (history, place)
        shown = max(0, history.summaries.count - last)..<history.summaries.count
    }

    private var runs: CheckHistory { CheckHistory(Array(history.summaries[shown]), notes: history.notes) }

    private var headline: String {
        guard let first = runs.summaries.first, let last = runs.summaries.last else {
            return "No check has been kept in \(place) yet."
        }
        let count = "\(last.failing.documents) \(last.dialect.consequence)"
        guard shown.count > 1 else { return "\(count) in the only check so far, at \(last.at)." }
        let ago = "\((shown.count - 1).counted("check")) ago, at \(first.at)"
        if first.failing == last.failing { return "\(count), as many as \(ago)." }
        return "\(count); \(ago), there were \(first.failing.grouped)."
    }

    private var level: Report.Level {
        guard let last = history.summaries.last else { return .notice }
        return last.failing > 0 ? .error : last.possible > 0 ? .warning : .good
    }

    private var notes: [String] {
        let sources = Set(runs.summaries.map(\.source)).count
        return (sources > 1 ? ["the checks are of \(sources.grouped) sources; changes are counted in each alone"] : [])
            + history.notes
    }

    private var table: Report.Table {
        let kinds = CheckDifference.Kind.allCases
        let fail = history.summaries.last?.dialect.isOfSync == false ? "fail" : "stop"
        let counts = ["read", "would \(fail)", "might \(fail)", "in the ledger", "headroom"]
        let titles = counts + kinds.map(\.rawValue) + ["anomalies"]
        return Report.Table(
            title: "The checks one by one",
            columns: ["when"] + titles.map(Report.Column.number),
            rows: shown.map { index in
                let run = history.summaries[index]
                let difference = history.difference(at: index)
                let counts: [Int?] = [run.documents, run.failing, run.possible, run.unsynced, run.headroom]
                let changes = kinds.map { difference?.count($0) } + [history.anomalies(at: index).count]
                return [Report.Cell("\(run.at)")] + (counts + changes).map { Report.Cell($0?.grouped ?? "-") }
            })
    }

    package var json: JSONReport {
        JSONReport(
            "history",
            [
                "folder": place, "notes": notes,
                "runs": shown.map { index in
                    history.summaries[index].members + [
                        "difference": history.difference(at: index)?.json,
                        "anomalies": history.anomalies(at: index).map(\.json),
                    ]
                },
            ])
    }

    package var report: Report {
        var report = Report(command: "history", title: "The checks in \(place)", headline: headline, level: level)
        report.figures.series = [Report.Series(runs)].compactMap(\.self)
        report.tables = [table] + [history.difference?.table].compactMap(\.self)
        report.notes = notes
        return report
    }
}
