import BSON
package import Backfill
import Checking
import JobState
import Jobs
import Running
import ServerSchema
import Steps

/// The result of a backfill or of its dry run, in every output format.
package struct BackfillResult: Reportable {
    private let found: BackfillReport
    private let showsValues: Bool
    private let timeline: RunTimeline?
    private let nextCommands: [String]

    /// - Parameters:
    ///   - showsValues: whether the sample documents show values, and not only types.
    ///   - timeline: the documents per second over time and the waits; `nil` if they were not recorded.
    ///   - nextCommands: a line for each command that can follow a finished run, for the end of the text.
    package init(
        _ report: BackfillReport, showsValues: Bool, timeline: RunTimeline? = nil, nextCommands: [String] = []
    ) {
        (found, self.showsValues, self.timeline) = (report, showsValues, timeline)
        self.nextCommands = nextCommands
    }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        let text = BackfillReportText.render(
            layout.shown(found, notes: \.notes), showsValues: showsValues, color: layout.isColored)
        guard !layout.hidesNotes, !next.isEmpty else { return text }
        return "\(text)\n\(next.map { "  \($0)" }.asLines)"
    }

    /// The lines that propose the next commands; none if the headline already names it.
    private var next: [String] {
        switch found.outcome {
        case .dryRun:
            let isNeeded = found.work.modified + (found.work.refreshed ?? 0) > 0
            return isNeeded && found.refusal == nil ? ["next: the same command without --dry-run"] : []
        case .done: return nextCommands
        case .nothingToDo, .stopped: return []
        }
    }

    /// The result as JSON.
    package var json: JSONReport { BackfillReportJSON(found, showsValues: showsValues).json }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        let isDryRun = found.outcome == .dryRun
        var report = Report(
            command: "backfill", title: "Job \(found.job) on \(found.namespace)",
            headline: BackfillReportText.headline(found), level: level)
        report.facts = facts
        report.gauges = [found.headroom?.gauge].compactMap(\.self)
        report.series = [timeline.flatMap { Report.Series($0) }].compactMap(\.self)
        report.tables = [steps(isDryRun: isDryRun), waits]
        report.sectionKind = "step"
        report.sections = sections(isDryRun: isDryRun)
        report.notes = found.notes + (found.refusal.map { ["A run would be refused: \($0)"] } ?? [])
        return report
    }

    var level: Report.Level {
        switch found.outcome {
        case .stopped(.threshold), .stopped(.failures): .error
        case .stopped: .warning
        case .dryRun: found.hasFindings ? .warning : .notice
        case .nothingToDo, .done: found.hasFindings ? .warning : .good
        }
    }

    private var facts: [Report.Fact] {
        let isDryRun = found.outcome == .dryRun
        var facts = [
            Report.Fact(
                name: isDryRun ? "would change" : "changed",
                value: (found.work.modifiedIsLow ? "at least " : "") + found.work.modified.grouped),
            Report.Fact(name: "documents", value: found.estimatedDocuments.grouped),
            Report.Fact(name: "chunks", value: found.work.chunks.grouped),
            Report.Fact(name: "took", value: "\(found.work.seconds.inTenths) s"),
        ]
        if found.work.earlierChunks > 0 {
            facts.append(Report.Fact(name: "chunks of earlier runs", value: found.work.earlierChunks.grouped))
        }
        if let refreshed = found.work.refreshed {
            facts.append(Report.Fact(name: "refreshed", value: refreshed.grouped))
        }
        if let unsyncable = found.unsyncable {
            facts.append(
                Report.Fact(name: "\(unsyncable.dialect.unfit) after the job", value: unsyncable.after.grouped))
        }
        let skipped = found.failures.reduce(0) { $0 + $1.count }
        return facts + [Report.Fact(name: "skipped", value: skipped.grouped)]
    }

    private func steps(isDryRun: Bool) -> Report.Table {
        let (before, after) = (found.before, found.after)
        let names = (before.isEmpty ? after : before).map(\.step)
        func count(_ steps: [StepCount], _ index: Int) -> Report.Cell {
            Report.Cell(index < steps.count ? steps[index].needing.grouped : "-")
        }
        return Report.Table(
            title: "Steps",
            columns: [Report.Column(title: "step"), Report.Column(title: "to change", isNumber: true)]
                + (isDryRun ? [] : [Report.Column(title: "remaining", isNumber: true)]),
            rows: names.enumerated().map { index, name in
                [Report.Cell(name, isCode: true), count(before, index)] + (isDryRun ? [] : [count(after, index)])
            })
    }

    private var waits: Report.Table {
        Report.Table(
            title: "Waits of the run",
            columns: ["reason", "metric", "value", "limit"].map { Report.Column(title: $0) }
                + [Report.Column(title: "seconds", isNumber: true)],
            rows: found.work.waits.map { wait in
                [
                    wait.waitReason.reason.rawValue, wait.waitReason.metric, wait.waitReason.value,
                    wait.waitReason.limit, wait.seconds.inTenths,
                ]
                .map { Report.Cell($0) }
            })
    }

    /// Returns a section of skipped documents for each step, by reason, and one for documents that could not be
    /// written.
    private func sections(isDryRun: Bool) -> [Report.Section] {
        let columns =
            [Report.Column(title: "documents", isNumber: true)]
            + ["reason", "such as _id"].map { Report.Column(title: $0) }
        func finding(_ reason: String, _ count: Int, _ samples: [BSONValue], isTrouble: Bool) -> Report.Finding {
            let ids = samples.prefix(3).map(ShellLiteral.text).joined(separator: ", ")
            return Report.Finding(
                level: isTrouble ? .error : .notice, isFailure: isTrouble, code: reason, subject: "",
                message: "\(count.documents): \(reason)" + (ids.isEmpty ? "" : ", such as _id \(ids)"),
                cells: [
                    Report.Cell(count.grouped), Report.Cell(reason, level: isTrouble ? .error : .notice),
                    Report.Cell(ids, isCode: true),
                ])
        }
        let left = (found.after.isEmpty ? found.before : found.after).map { step in
            Report.Section(
                name: step.step, columns: columns,
                findings: step.skipped.filter { $0.count > 0 }.map {
                    finding($0.reason, $0.count, $0.samples, isTrouble: $0.isTrouble)
                })
        }
        let skipped = Report.Section(
            name: isDryRun ? "Would be skipped" : "Skipped", columns: columns,
            findings: found.failures.map { group in
                let code = group.code == 0 ? "" : " (code \(group.code))"
                return finding(group.name + code, group.count, group.samples, isTrouble: true)
            })
        return (left + [skipped]).filter { !$0.findings.isEmpty }
    }
}

extension Headroom {
    /// How close the unsynced documents are to the number at which the job stops.
    var gauge: Report.Gauge {
        Report.Gauge(
            title: "Unsynced documents, and the limit at which the job stops", summary: "\(text).", limit: ceiling,
            amounts: [
                Report.Amount(name: "in the ledger", value: ledger?.entries ?? 0, level: .notice),
                Report.Amount(name: "pending", value: pending, level: .warning),
            ])
    }
}

extension Report.Series {
    /// Creates the line of a run's documents per second over time, with its waits; `nil` if the run was too short for a
    /// line.
    init?(_ timeline: RunTimeline) {
        guard timeline.documents.count > 4 else { return nil }
        self.init(
            title: "Documents a second", unit: "a second",
            lines: [
                Line(name: "rate", level: .notice, values: timeline.documents.map { Double($0) / timeline.stretch })
            ],
            points: timeline.documents.indices.map { Self.time(Double($0) * timeline.stretch) },
            spans: timeline.waits.map {
                Span(from: $0.from / timeline.stretch, to: $0.to / timeline.stretch, reason: $0.reason)
            }, showsLatest: false)
    }

    /// Returns a time such as `1:02:03`.
    private static func time(_ seconds: Double) -> String {
        let whole = Int(seconds)
        let parts = whole < 3_600 ? [whole / 60, whole % 60] : [whole / 3_600, whole / 60 % 60, whole % 60]
        return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
    }
}
