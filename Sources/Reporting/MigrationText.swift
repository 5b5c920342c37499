import BSON
package import Backfill
package import JobState
import TextTable

/// A migration's report as text: the report of each job that ran, then the pending jobs.
package enum MigrationText {
    /// Renders the report with the layout's colours, and without notes if the layout hides them.
    package static func render(_ report: MigrationReport, layout: TextLayout) -> String {
        let reports = report.jobs.map { job in
            BackfillReportText.render(
                layout.shown(job.report, notes: \.notes), showsValues: false, color: layout.isColored)
        }
        let isRefused = report.jobs.contains { $0.report.refusal != nil || $0.report.outcome.isStopped }
        let isNext = report.isDryRun && !isRefused && report.jobs.contains { $0.report.work.modified > 0 }
        let next = isNext && !layout.hidesNotes ? "\nNext: the same command without --dry-run." : ""
        return (reports + [summary(report) + next]).joined(separator: "\n\n")
    }

    /// Returns how many jobs were applied and which are pending, in one line.
    package static func summary(_ report: MigrationReport) -> String {
        if report.jobs.isEmpty, report.remaining.isEmpty { return "Nothing to do: every job was applied." }
        if report.isDryRun { return "Dry run: nothing was written. Each job is shown with the data as it is now." }
        let applied = report.jobs.count - (report.jobs.last.map { $0.report.outcome.isStopped } == true ? 1 : 0)
        let left =
            report.remaining.isEmpty
            ? "none is pending" : "pending: \(report.remaining.joined(separator: ", ").printable)"
        return "\(applied.counted("job")) applied, \(left)."
    }
}

extension BackfillReport.Outcome {
    fileprivate var isStopped: Bool { if case .stopped = self { true } else { false } }
}

/// The status of a folder of jobs as text: which of its jobs were applied.
package enum MigrationStatusText {
    /// Renders the status as a table with a row per job.
    /// - Parameters:
    ///   - begun: the state of the jobs that a run has begun.
    ///   - width: the width of the terminal in columns; `nil` for no limit.
    package static func render(_ plan: MigrationPlan, begun: [JobStatus], width: Int?) -> String {
        let table = Report.Table(
            title: "Jobs",
            columns: ["file", "job", "state", "when", "by", "digest"].map { Report.Column(title: $0) },
            rows: MigrationRow.all(plan, begun: begun).map { row in
                [row.file, row.job, row.words, row.at.map { "\($0)" } ?? "-", row.by ?? "-", row.digest].map {
                    Report.Cell($0)
                }
            })
        return TextTable.lines(of: table, width: width, indent: 0).asLines
    }
}
