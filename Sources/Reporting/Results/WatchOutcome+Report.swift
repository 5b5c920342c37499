import BSON
package import Watching

/// The counts of `ledger follow`, in every output format, without documents and their `_id`s.
extension WatchOutcome: Reportable {
    package var json: JSONReport {
        JSONReport(
            "ledger follow",
            [
                "ledger": "\(counts.ledger)", "limit": counts.limit < .max ? counts.limit : nil,
                "unsynced": counts.total,
                "collections": counts.collections.map { namespace, count in
                    ["collection": "\(namespace)", "unsynced": count] as ReportValue
                },
                "changes": counts.changes, "lag_seconds": counts.lag, "caught_up": isCaughtUp,
            ])
    }

    package var report: Report {
        var report = Report(
            command: "ledger follow", title: "The ledger \(counts.ledger)", headline: WatchReport.line(counts),
            level: counts.total > 0 ? .error : isCaughtUp ? .good : .warning)
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
                name: "\(counts.ledger)", columns: ["collection", .number("unsynced documents")],
                findings: counts.collections.map { namespace, count in
                    Report.Finding(
                        level: .error, isFailure: true, code: "unsynced", subject: "\(namespace)",
                        message: count.counted("unsynced document"), cells: [.code("\(namespace)"), .count(count)])
                })
        ].filter { !$0.findings.isEmpty }
        report.warnings = isCaughtUp ? [] : ["stopped before all changes were judged: the next run resumes there"]
        return report
    }
}
