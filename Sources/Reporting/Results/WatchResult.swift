import BSON
package import Watching

/// The counts of `ledger follow`, in every output format, without documents and their `_id`s.
package struct WatchResult: Reportable {
    private let outcome: WatchOutcome

    package init(_ outcome: WatchOutcome) { self.outcome = outcome }

    private var counts: WatchCounts { outcome.counts }

    package var json: JSONReport {
        JSONReport(
            "ledger follow",
            [
                "ledger": "\(counts.ledger)", "limit": counts.limit < .max ? counts.limit : nil,
                "unsynced": counts.total,
                "collections": counts.collections.map { namespace, count in
                    ["collection": "\(namespace)", "unsynced": count] as ReportValue
                },
                "changes": counts.changes, "lag_seconds": counts.lag, "caught_up": outcome.isCaughtUp,
            ])
    }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        var report = Report(
            command: "ledger follow", title: "The ledger \(counts.ledger)", headline: WatchReport.line(counts),
            level: counts.total > 0 ? .error : outcome.isCaughtUp ? .good : .warning)
        if counts.limit < .max {
            report.figures.gauges = [
                Report.Gauge(
                    title: "Unsynced documents, and the limit", summary: WatchReport.line(counts) + ".",
                    limit: counts.limit,
                    amounts: [Report.Amount(name: "unsynced documents", value: counts.total, level: .warning)])
            ]
        }
        report.sections = [
            Report.Section(
                name: "\(counts.ledger)",
                columns: [
                    Report.Column(title: "collection"), Report.Column(title: "unsynced documents", isNumber: true),
                ],
                findings: counts.collections.map { namespace, count in
                    Report.Finding(
                        level: .error, isFailure: true, code: "unsynced", subject: "\(namespace)",
                        message: count.counted("unsynced document"),
                        cells: [Report.Cell("\(namespace)", isCode: true), Report.Cell(count.grouped)])
                })
        ].filter { !$0.findings.isEmpty }
        report.warnings =
            outcome.isCaughtUp ? [] : ["stopped before all changes were judged: the next run resumes there"]
        return report
    }
}
