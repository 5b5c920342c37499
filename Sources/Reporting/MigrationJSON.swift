import BSON
package import Backfill
package import JobState

/// A migration's report as JSON: one object with its keys in a fixed order.
package struct MigrationJSON {
    private let report: MigrationReport

    /// Wraps a report.
    package init(_ report: MigrationReport) { self.report = report }

    /// The JSON text, indented, which ends with a line break.
    package var text: String {
        JSONReport(
            "migrate",
            [
                ("dry_run", .bool(report.isDryRun)),
                (
                    "jobs",
                    .array(
                        report.jobs.map { file, report in
                            .object([
                                ("file", .string(file)),
                                ("report", BackfillReportJSON(report, showsValues: false).json.value),
                            ])
                        })
                ),
                ("pending", .array(report.remaining.map { .string($0) })),
            ]
        ).text
    }
}

/// The status of a folder of jobs as JSON: which of its jobs were applied.
package struct MigrationStatusJSON {
    private let rows: [MigrationRow]

    /// Wraps the plan of a migration; `begun` has the state of the jobs that a run has begun.
    package init(_ plan: MigrationPlan, begun: [JobStatus]) { rows = MigrationRow.all(plan, begun: begun) }

    /// The JSON text, indented, which ends with a line break.
    package var text: String {
        JSONReport("migrate", [("jobs", .array(rows.map(json)))]).text
    }

    private func json(_ row: MigrationRow) -> ReportValue {
        .object([
            ("file", .string(row.file)), ("job", .string(row.job)), ("state", .string(row.state)),
            ("applied_at", row.at.map { .string($0.iso8601) } ?? .null),
            ("applied_by", row.by.map { .string($0) } ?? .null), ("digest", .string(row.digest)),
        ])
    }
}
