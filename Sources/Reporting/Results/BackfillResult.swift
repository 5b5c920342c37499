import BSON
import Checking
package import JobReports
import JobState
import Jobs
import Running
import ServerSchema
import Steps

/// The result of a backfill or of its dry run, in every output format.
package struct BackfillResult: Reportable {
    let found: BackfillReport
    let showsValues: Bool
    private let timeline: RunTimeline?
    private let nextCommands: [String]
    private let shownPlan: BackfillPlan?

    /// Wraps the report of a backfill.
    /// - Parameters:
    ///   - showsValues: whether the sample documents show values, and not only types.
    ///   - timeline: the documents per second over time and the waits; `nil` if they were not recorded.
    ///   - nextCommands: a line for each command that can follow a finished run, for the end of the text.
    ///   - shownPlan: the plan that the command has shown before the run; the text does not repeat it. `nil` for no
    ///     plan.
    package init(
        _ report: BackfillReport, showsValues: Bool, timeline: RunTimeline? = nil, nextCommands: [String] = [],
        shownPlan: BackfillPlan? = nil
    ) {
        (found, self.showsValues, self.timeline) = (report, showsValues, timeline)
        (self.nextCommands, self.shownPlan) = (nextCommands, shownPlan)
    }

    package func text(_ layout: TextLayout) -> String {
        var report = report
        if !layout.isKept {
            report.lines = lines(withSmallEstimate: false)
            if let shownPlan { report.remove(shownBy: shownPlan, isDone: found.outcome == .done) }
        }
        return TextReport(report, layout).text
    }

    package var report: Report {
        var report = Report(
            command: "backfill", title: "Job \(found.job) on \(found.namespace)",
            headline: found.headline, level: level)
        (report.lines, report.figures.facts) = (lines(withSmallEstimate: true), facts)
        report.figures.gauges = [found.headroom?.gauge].compactMap(\.self)
        report.figures.series = [timeline.flatMap { Report.Series($0) }].compactMap(\.self)
        report.tables = [steps, samples, waits]
        report.style.sectionKind = "step"
        (report.sections, report.style.listsFindings) = (sections, true)
        report.notes = found.notes
        report.warnings = [found.refusal.map { "a run would be refused: \($0)" }, found.disagreement].compactMap(\.self)
        report.next = next
        return report
    }

    /// The lines that propose the next commands; empty if there is nothing to run, if a run would be refused, or if the
    /// headline says what to do.
    private var next: [String] {
        switch found.outcome {
        case .dryRun:
            let isNeeded = found.work.modified + (found.work.refreshed ?? 0) > 0
            return isNeeded && found.refusal == nil ? ["Next: the same command without --dry-run"] : []
        case .done: return nextCommands
        case .nothingToDo, .stopped: return []
        }
    }

    var level: Report.Level {
        switch found.outcome {
        case .stopped(.threshold), .stopped(.failures): .error
        case .stopped: .warning
        case .dryRun: found.hasFindings ? .warning : .notice
        case .nothingToDo, .done: found.hasFindings ? .warning : .good
        }
    }

    /// The figures in words.
    /// - Parameter withSmallEstimate: whether to estimate the cost of a run that takes less than a minute and writes
    ///   less than 1% of the oplog.
    private func lines(withSmallEstimate: Bool) -> [String] {
        let (work, isDryRun) = (found.work, found.isDryRun)
        let updates = work.updates > work.modified ? " by \(work.updates.counted("update"))" : ""
        let earlier = work.earlierChunks > 0 ? " (after \(work.earlierChunks.counted("chunk")) of earlier runs)" : ""
        var lines = [
            "\(isDryRun ? "would change" : "changed") "
                + "\(work.modified.grouped) of "
                + "\(found.estimatedDocuments.documents)\(updates) in \(work.chunks.counted("chunk")), "
                + "\(work.seconds.inTenths) s\(earlier)"
        ]
        if let bound = work.bound { lines.append("speed limited by \(bound)") }
        if let refreshed = work.refreshed, refreshed > 0 {
            lines.append(
                "\(isDryRun ? "would refresh" : "refreshed") \(refreshed.documents): the source changed after the job "
                    + "wrote the target")
        }
        if let unsyncable = found.unsyncable {
            let unfit = unsyncable.dialect.unfit + (found.isRepair ? "" : " under the next schema")
            lines.append(
                unsyncable.before.map { "\(unfit): \($0.documents) now, \(unsyncable.after.grouped) after the job" }
                    ?? "still \(unfit): \(unsyncable.after.documents)")
        }
        if let count = found.madeUnsyncable {
            lines.append(count.unsyncable(isDryRun ? "would make" : "made", found.headroom))
        }
        guard let estimate = work.estimate, found.outcome == .dryRun, work.modified > 0 else { return lines }
        return lines + (withSmallEstimate || !estimate.isSmall ? estimate.lines : [])
    }

    private var facts: [Report.Fact] {
        let skipped = found.failures.reduce(0) { $0 + $1.count }
        let facts = [
            Report.Fact(found.isDryRun ? "would change" : "changed", found.work.modified),
            Report.Fact("documents", found.estimatedDocuments),
            Report.Fact("chunks", found.work.chunks),
            .seconds("took", found.work.seconds),
            found.work.earlierChunks > 0 ? Report.Fact("chunks of earlier runs", found.work.earlierChunks) : nil,
            found.work.refreshed.map { Report.Fact("refreshed", $0) },
            found.unsyncable.map { Report.Fact("\($0.dialect.unfit) after the job", $0.after) },
            Report.Fact("skipped", skipped),
        ]
        return facts.compactMap(\.self)
    }

    private var steps: Report.Table {
        var table = (found.before.isEmpty ? found.after : found.before).table(found.before)
        if found.isDryRun { return table }
        table.columns.append(.number("remaining"))
        for index in table.rows.indices { table.rows[index].append(found.after.needing(index)) }
        return table
    }

    /// A few sample documents, with the fields that the job changes, as they are before the change and after it.
    private var samples: Report.Table {
        Report.Table(
            title: "For example", columns: ["_id", "change"],
            rows: found.samples.map { sample in
                let changes = zip(sample.before, sample.after).flatMap { before, after in
                    ValueChange.all(from: before.value, to: after.value, at: "\(before.path)")
                }.map { showsValues ? $0.values : $0.types }
                let shown = changes.grouped { $0 }.map(\.key)
                let more = shown.count > Self.mostChanges ? [", …"] : []
                return [
                    Report.Cell(sample.id.shellText),
                    Report.Cell(shown.prefix(Self.mostChanges).joined(separator: ", ") + more.joined()),
                ]
            })
    }

    /// The most changes of one sample document that are shown.
    private static var mostChanges: Int { 5 }

    private var waits: Report.Table {
        Report.Table(
            title: "Waits of the run", columns: ["reason", "metric", "value", "limit", .number("seconds")],
            rows: found.work.waits.map { wait in
                let reason = wait.waitReason
                return [reason.reason.rawValue, reason.metric, reason.value, reason.limit, wait.seconds.inTenths]
                    .map { Report.Cell($0) }
            })
    }

    /// A section for each step, with the skipped documents by reason, and a section for documents that could not be
    /// written.
    private var sections: [Report.Section] {
        let isDryRun = found.isDryRun
        let failures = Report.Section(
            name: isDryRun ? "Would be skipped" : "Skipped", columns: .skipped,
            findings: found.failures.map { group in
                let code = group.code == 0 ? "" : " (code \(group.code))"
                return Report.Finding(
                    isDryRun ? "would be skipped" : "skipped", group.name + code, group.count, group.samples,
                    isTrouble: true)
            })
        return ((found.after.isEmpty ? found.before : found.after).sections + [failures]).filter {
            !$0.findings.isEmpty
        }
    }
}

extension BackfillPlan {
    /// The plan as text, which the operator reads before confirming the run.
    package var text: String {
        let all = documents.documents
        let needs = needing.map { "\($0.grouped) of \(all) \($0 == 1 ? "needs it" : "need it")" }
        var report = Report(
            command: "backfill", title: "Job \(job) on \(namespace)",
            headline: "job \(job) on \(namespace): "
                + (needs ?? "\(all); how many need it was not counted, because of --yes"), level: .notice)
        if let chunks = resumesAfter {
            report.lines.append("resumes after \(chunks.counted("chunk")) of earlier runs")
        }
        if refreshable > 0 {
            report.lines.append(
                "\(refreshable.documents) to refresh: the source changed after the job wrote the target")
        }
        if let headroom = risk.headroom {
            report.lines.append(risk.madeUnsyncable.unsyncable("makes", headroom))
        }
        report.tables = [before.table(before)]
        (report.sections, report.style.listsFindings) = (before.sections.filter { !$0.findings.isEmpty }, true)
        (report.notes, report.warnings) = (notes, [disagreement].compactMap(\.self))
        return TextReport(report).text
    }
}

extension Report {
    /// Removes the texts that the command has already shown in the plan, but no section with documents to fix.
    ///
    /// Of a run that is done, the table of the steps is removed, too, because it mostly repeats the plan's.
    fileprivate mutating func remove(shownBy plan: BackfillPlan, isDone: Bool) {
        if isDone { tables.removeAll { $0.title == [StepCount].tableTitle } }
        notes.removeAll(where: plan.notes.contains)
        let shown = plan.before.sections
        sections.removeAll { section in
            !section.findings.contains(where: \.isFailure)
                && shown.contains { section.hasSameText(as: $0) }
        }
    }
}

extension Report.Section {
    fileprivate func hasSameText(as other: Report.Section) -> Bool {
        name == other.name && findings.map(\.message) == other.findings.map(\.message)
    }
}

extension [StepCount] {
    fileprivate static let tableTitle = "Steps"

    /// Returns a table with a row per step, which shows how many documents the step has to change.
    /// - Parameter before: the counts from before the run; empty if the documents were not counted.
    fileprivate func table(_ before: [StepCount]) -> Report.Table {
        Report.Table(
            title: Self.tableTitle, columns: ["step", .number("to change")],
            rows: indices.map { [.code(self[$0].step), before.needing($0)] })
    }

    fileprivate func needing(_ index: Int) -> Report.Cell {
        Report.Cell(index < count ? self[index].needing.grouped : "-")
    }

    /// A section for each step, with the documents that the step skips, by reason.
    fileprivate var sections: [Report.Section] {
        map { step in
            Report.Section(
                name: step.step, columns: .skipped,
                findings: step.skipped.filter { $0.count > 0 }.map { left in
                    var finding = Report.Finding(
                        left.isTrouble ? "skipped" : "nothing to do", left.reason, left.count, left.samples,
                        isTrouble: left.isTrouble)
                    finding.details = CompiledStep.Reason(rawValue: left.reason)?.remedy.map { [$0] } ?? []
                    return finding
                })
        }
    }
}

extension [Report.Column] {
    fileprivate static var skipped: [Report.Column] { [.number("documents"), "reason", "such as _id"] }
}

extension Report.Finding {
    fileprivate init(_ verb: String, _ reason: String, _ count: Int, _ samples: [BSONValue], isTrouble: Bool) {
        let ids = samples.prefix(3).map(\.shellText).joined(separator: ", ")
        self.init(
            count, reason, ids: ids,
            message: "\(verb), \(reason): \(count.grouped)" + (ids.isEmpty ? "" : ", such as _id \(ids)"),
            isTrouble: isTrouble)
    }

    /// Creates a finding on documents that a job left as they are, with the cells of their number, the reason and their
    /// `_id`s.
    init(_ count: Int, _ reason: String, ids: String, message: String, isTrouble: Bool) {
        let level = isTrouble ? Report.Level.error : .notice
        self.init(
            level: level, isFailure: isTrouble, code: reason, message: message,
            cells: [.count(count), Report.Cell(reason, level: level), .code(ids)])
    }
}

extension Headroom {
    /// A gauge of the unsynced documents and the limit at which the job stops.
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
    /// Creates a chart of a run's documents per second over time, with its waits; `nil` if the run was too short for a
    /// chart.
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

    private static func time(_ seconds: Double) -> String {
        let whole = Int(seconds)
        let parts = whole < 3_600 ? [whole / 60, whole % 60] : [whole / 3_600, whole / 60 % 60, whole % 60]
        return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
    }
}
