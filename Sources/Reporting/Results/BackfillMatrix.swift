import BSON
package import JobReports

/// The report of a backfill in many databases that have the same schema, with a row per database.
package struct BackfillMatrix: Reportable {
    private let found: DatabasesReport
    private let showsValues: Bool
    private let timeline: RunTimeline?

    /// Wraps the report of a backfill in many databases.
    /// - Parameters:
    ///   - showsValues: whether a dry run shows the report of each database, with the values of sample documents.
    ///   - timeline: the documents per second over time and the waits; `nil` if they were not recorded.
    package init(_ report: DatabasesReport, showsValues: Bool, timeline: RunTimeline? = nil) {
        (found, self.showsValues, self.timeline) = (report, showsValues, timeline)
    }

    private var headline: (text: String, level: Report.Level) {
        let states = found.entries.map(\.state)
        let counts = DatabasesReport.State.allCases.compactMap { state in
            let count = states.count { $0 == state }
            return count == 0 ? nil : "\(count.grouped) \(state.words)"
        }
        let head = "Job \(found.job) in \(found.entries.count.counted("database")): "
        var text =
            head + (found.isDryRun ? "dry run, nothing was written; " : "") + counts.joined(separator: ", ") + "."
        if let (database, end) = found.ended { text += " Ended at \(database): \(self.text(of: end, in: database))." }
        if found.refusal != nil { text += " Together they would exceed the limit." }
        let worst = found.entries.map(\.level).max() ?? .notice
        let level = found.refusal == nil ? worst : max(worst, .warning)
        return (text, level >= .warning ? level : found.isDryRun ? .notice : .good)
    }

    private func text(of end: DatabasesReport.End, in database: String) -> String {
        switch end {
        case .error(let message): return message
        case .stop(let stop):
            let job = found.entries.first { $0.database == database }?.job ?? found.job
            return "stopped by \(stop.text); \(stop.remedy(for: job))"
        }
    }

    /// Returns the notes on all databases, each once, after the names of the databases that it applies to.
    ///
    /// The names are left out if the note applies to every database with a report. Notes that differ only in the name
    /// of their database count as one note, which then contains the name of the database in the job file.
    private func distinct(_ notes: (BackfillReport) -> [String]) -> [String] {
        let notes = found.entries.flatMap { entry in
            (entry.report.map(notes) ?? []).map {
                (text: $0.replacing(" \(entry.database).", with: " \(found.own)."), database: entry.database)
            }
        }
        return notes.grouped(by: \.text).map { text, notes in
            let databases = notes.map(\.database).joined(separator: ", ")
            return notes.count == found.reports.count ? text : "\(databases): \(text)"
        }
    }

    /// How the program and the server disagree on the job's steps.
    private var disagreements: [String] { distinct { [$0.disagreement].compactMap(\.self) } }

    package var json: JSONReport {
        JSONReport(
            "backfill databases",
            [
                "job": found.job, "pattern": found.pattern, "dry_run": found.isDryRun,
                "duration_ms": Int(found.seconds * 1_000), "databases": found.entries.map(json),
                "ended_early": found.ended.map { database, end in
                    ["database": database, "reason": text(of: end, in: database)] as ReportValue
                },
                "not_reached": found.entries.filter { $0.state == .notReached }.map(\.database),
                "refusal": found.refusal, "added": found.added,
                "disagreement": disagreements.isEmpty ? nil : disagreements.joined(separator: "; "),
            ])
    }

    private func json(_ entry: DatabasesReport.Entry) -> ReportValue {
        let error: String? = if case .failed(let message, _) = entry.outcome { message } else { nil }
        return [
            "database": entry.database, "job": entry.job, "state": entry.state.rawValue, "changed": entry.changed,
            "skipped": entry.skipped, "exit_code": entry.exitCode, "error": error,
            "report": entry.report.map { BackfillResult($0, showsValues: showsValues).json.value },
        ]
    }

    package var report: Report {
        let (text, level) = headline
        var report = Report(
            command: "backfill", title: "Job \(found.job) in \(found.pattern)", headline: text, level: level)
        let (all, changed) = (found.entries, found.isDryRun ? "would change" : "changed")
        report.figures.facts = [
            Report.Fact("databases", all.count),
            Report.Fact(changed, all.reduce(0) { $0 + ($1.changed ?? 0) }),
            Report.Fact("skipped", all.reduce(0) { $0 + ($1.skipped ?? 0) }),
            .seconds("took", found.seconds),
        ]
        let last = found.reports.last { $0.headroom != nil }
        report.figures.gauges = [last?.headroom?.gauge].compactMap(\.self)
        report.figures.series = [timeline.flatMap { Report.Series($0) }].compactMap(\.self)
        report.style.sectionKind = "where"
        report.sections = [
            Report.Section(
                name: found.pattern,
                columns: ["database", "state", .number(changed), .number("skipped"), .number("exit")],
                findings: all.map(finding))
        ]
        for entry in all where entry.fails || found.isDryRun && showsValues {
            guard let reported = entry.report else { continue }
            var part = BackfillResult(reported, showsValues: showsValues).report
            // The report on all databases has the notes of each database, so the part for one database does not repeat
            // them.
            part.notes = []
            part.warnings.removeAll { $0 == reported.disagreement }
            report.reports.append((entry.database, part))
        }
        (report.notes, report.warnings) = (distinct(\.notes), disagreements)
        if let refusal = found.refusal { report.warnings.append("A run would stop early: \(refusal)") }
        if !found.added.isEmpty {
            report.warnings.append("created during the run, and skipped: \(found.added.joined(separator: ", "))")
        }
        report.figures.footer = "\(all.count.counted("database")) in \(found.seconds.inTenths) s."
        let isNext = found.isDryRun && found.refusal == nil && all.contains { $0.state == .wouldChange }
        report.next = isNext ? ["Next: the same command without --dry-run"] : []
        return report
    }

    private func finding(_ entry: DatabasesReport.Entry) -> Report.Finding {
        var (message, details) = ("\(entry.database): \(entry.state.words)", [String]())
        if let report = entry.report { message = report.headline }
        if case .failed(let error, _) = entry.outcome {
            message = "job \(entry.job): \(error)"
            details = [message]
        }
        return Report.Finding(
            level: entry.level, isFailure: entry.fails, code: entry.state.words, subject: entry.database,
            message: message, details: details,
            cells: [
                .code(entry.database), Report.Cell(entry.state.words, level: entry.level),
                Report.Cell(entry.changed?.grouped ?? ""), Report.Cell(entry.skipped?.grouped ?? ""),
                Report.Cell(entry.exitCode.map { "\($0)" } ?? ""),
            ])
    }
}
