import BSON
package import JobReports
package import JobState

/// The result of `backfill FOLDER` or of its dry run, in every output format.
extension MigrationReport: Reportable {
    package var json: JSONReport {
        JSONReport(
            "backfill folder",
            [
                "dry_run": isDryRun,
                "jobs": jobs.map { file, report in
                    ["file": file, "report": BackfillResult(report, showsValues: false).json.value] as ReportValue
                },
                "pending": remaining,
                "disagreement": disagreements.isEmpty ? nil : disagreements.joined(separator: "; "),
            ])
    }

    /// How the program and the server disagree on the steps of the jobs.
    private var disagreements: [String] {
        jobs.compactMap { file, report in report.disagreement.map { "\(file): \($0)" } }
    }

    package var report: Report {
        let reports = jobs.map { (name: $0.file, report: BackfillResult($0.report, showsValues: false).report) }
        let isStopped = jobs.contains { $0.report.outcome.stop != nil }
        let isRefused = isStopped || jobs.contains { $0.report.refusal != nil }
        var report = Report(
            command: "backfill folder", title: isDryRun ? "Dry run of the pending jobs" : "The pending jobs",
            headline: headline, level: reports.map(\.report.level).max() ?? .good)
        report.reports = reports
        let isNext = isDryRun && !isRefused && jobs.contains { $0.report.work.modified > 0 }
        report.next =
            isNext
            ? ["Next: the same command without --dry-run"]
            : isStopped || isDryRun ? [] : nextAfterDeploy(of: waiting, deployToRecord)
        return report
    }

    /// A sentence that says how many jobs were applied and which are pending, or that there was nothing to do, or that
    /// the run was a dry run.
    package var headline: String {
        if jobs.isEmpty, remaining.isEmpty { return "Nothing to do: every job was applied." }
        if isDryRun { return "Dry run: nothing was written. Each job is shown with the data as it is now." }
        let applied = jobs.count { $0.report.outcome.stop == nil }
        let due = remaining.filter { name in !waiting.contains { $0.name == name } }
        let left =
            remaining.isEmpty
            ? "none is pending"
            : due.isEmpty
                ? "\(waiting.count.counted("job")) waits for the deploy"
                : "pending: \(remaining.joined(separator: ", "))"
        return "\(applied.counted("job")) applied, \(left)."
    }
}

/// The status of a folder of jobs, in every output format: which of its jobs were applied.
package struct MigrationStatusResult: Reportable {
    private let folder: String
    private let rows: [MigrationRow]
    private let next: [String]

    /// Wraps the plan of a migration.
    /// - Parameters:
    ///   - begun: the states of the jobs that a run has begun.
    ///   - left: how many documents need each job now, by the jobs' names.
    package init(_ plan: MigrationPlan, begun: [JobStatus], left: [String: Int], folder: String) {
        (rows, self.folder) = (MigrationRow.all(plan, begun: begun, left: left), folder)
        let isDue = plan.pending.count > plan.waiting.count
        next =
            isDue
            ? ["Next: shipshape backfill \(folder.shellWord)"]
            : nextAfterDeploy(of: plan.waiting, plan.deployToRecord.map { plan.path(of: $0) })
    }

    package var json: JSONReport {
        JSONReport(
            "status folder",
            [
                "jobs": rows.map { row in
                    [
                        "phase": row.phase?.rawValue, "file": row.file, "job": row.job, "state": row.state,
                        "applied_at": row.at?.iso8601, "applied_by": row.by, "digest": row.digest, "left": row.left,
                    ] as ReportValue
                }
            ])
    }

    package var report: Report {
        // The jobs of other folders have no file in this one.
        let here = rows.filter(\.hasFile)
        let pending = here.count(where: \.isPending)
        var report = Report(
            command: "status folder", title: "The jobs in \(folder)",
            headline: "\((here.count - pending).counted("job")) applied, \(pending.grouped) pending.",
            level: here.map(\.level).max() ?? .notice)
        report.sections = [
            Report.Section(
                name: folder, columns: ["phase", "file", "state", .number("left")],
                findings: here.map { row in
                    Report.Finding(
                        level: row.level, code: row.words, subject: row.file, message: row.words,
                        cells: [
                            Report.Cell(row.phase?.rawValue ?? "-"), .code(row.file),
                            Report.Cell(row.words, level: row.level), Report.Cell(row.left?.grouped ?? "-"),
                        ])
                })
        ]
        let others = rows.count - here.count
        report.notes =
            others == 0 ? [] : ["\(others.counted("applied job")) \(others == 1 ? "has" : "have") no file here"]
        report.next = next
        return report
    }
}

extension MigrationRow {
    fileprivate var hasFile: Bool { phase != nil }

    fileprivate var isPending: Bool { state.hasPrefix("pending") }

    fileprivate var level: Report.Level { isPending ? .notice : digest == "ok" ? .good : .warning }
}

/// Returns the lines that say what comes next where jobs wait for a deploy; none if no job waits.
/// - Parameter file: the path of the file for which the operator records the deploy; `nil` if there is none.
private func nextAfterDeploy(of waiting: [JobFolder.Entry], _ file: String?) -> [String] {
    guard !waiting.isEmpty else { return [] }
    let record = file.map { "shipshape job deployed --yes \($0.shellWord), and backfill again" }
    return ["Next: deploy the schema, then \(record ?? "backfill again with --deployed")"]
}
