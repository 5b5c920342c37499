import BSON
package import JobReports
package import JobState

/// The result of `backfill FOLDER` or of its dry run, in every output format.
package struct MigrationResult: Reportable {
    private let found: MigrationReport

    /// Wraps a report.
    package init(_ report: MigrationReport) { found = report }

    /// The result as JSON.
    package var json: JSONReport {
        JSONReport(
            "backfill folder",
            [
                "dry_run": found.isDryRun,
                "jobs": found.jobs.map { file, report in
                    ["file": file, "report": BackfillResult(report, showsValues: false).json.value] as ReportValue
                },
                "pending": found.remaining,
            ])
    }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        let jobs = found.jobs.map { (name: $0.file, report: BackfillResult($0.report, showsValues: false).report) }
        let isStopped = found.jobs.contains { $0.report.outcome.stop != nil }
        let isRefused = isStopped || found.jobs.contains { $0.report.refusal != nil }
        var report = Report(
            command: "backfill folder", title: found.isDryRun ? "Dry run of the pending jobs" : "The pending jobs",
            headline: headline, level: jobs.map(\.report.level).max() ?? .good)
        report.reports = jobs
        let isNext = found.isDryRun && !isRefused && found.jobs.contains { $0.report.work.modified > 0 }
        report.next = isNext ? ["Next: the same command without --dry-run"] : []
        return report
    }

    /// A sentence that says how many jobs were applied and which are pending, or that there was nothing to do, or that
    /// the run was a dry run.
    package var headline: String {
        if found.jobs.isEmpty, found.remaining.isEmpty { return "Nothing to do: every job was applied." }
        if found.isDryRun { return "Dry run: nothing was written. Each job is shown with the data as it is now." }
        let applied = found.jobs.count { $0.report.outcome.stop == nil }
        let left = found.remaining.isEmpty ? "none is pending" : "pending: \(found.remaining.joined(separator: ", "))"
        return "\(applied.counted("job")) applied, \(left)."
    }
}

/// The status of a folder of jobs, in every output format: which of its jobs were applied.
package struct MigrationStatusResult: Reportable {
    private let folder: String
    private let rows: [MigrationRow]

    /// Wraps the plan of a migration; `begun` has the state of the jobs that a run has begun.
    package init(_ plan: MigrationPlan, begun: [JobStatus], folder: String) {
        (rows, self.folder) = (MigrationRow.all(plan, begun: begun), folder)
    }

    /// The result as JSON.
    package var json: JSONReport {
        JSONReport(
            "status folder",
            [
                "jobs": rows.map { row in
                    [
                        "file": row.file, "job": row.job, "state": row.state, "applied_at": row.at?.iso8601,
                        "applied_by": row.by, "digest": row.digest,
                    ] as ReportValue
                }
            ])
    }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        let pending = rows.count(where: \.isPending)
        var report = Report(
            command: "status folder", title: "The jobs in \(folder)",
            headline: "\((rows.count - pending).counted("job")) applied, \(pending.grouped) pending.",
            level: rows.map(\.level).max() ?? .notice)
        report.sections = [
            Report.Section(
                name: folder,
                columns: ["file", "job", "state", "when", "by", "digest"].map { Report.Column(title: $0) },
                findings: rows.map { row in
                    let cells = [row.at.map { "\($0)" } ?? "-", row.by ?? "-", row.digest]
                    return Report.Finding(
                        level: row.level, isFailure: false, code: row.words, subject: row.file, message: row.words,
                        cells: [
                            Report.Cell(row.file, isCode: true), Report.Cell(row.job, isCode: true),
                            Report.Cell(row.words, level: row.level),
                        ] + cells.map { Report.Cell($0) })
                })
        ]
        return report
    }
}

extension MigrationRow {
    fileprivate var isPending: Bool { state.hasPrefix("pending") }

    fileprivate var level: Report.Level { isPending ? .notice : digest == "ok" ? .good : .warning }
}
