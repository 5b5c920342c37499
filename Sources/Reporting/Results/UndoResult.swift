import BSON
package import Backfill

/// The result of an undo or of its dry run, in every output format.
package struct UndoResult: Reportable {
    private let found: UndoReport

    /// Wraps a report.
    package init(_ report: UndoReport) { found = report }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        let text = UndoText.render(layout.shown(found, notes: \.notes), color: layout.isColored)
        let isNext = found.outcome == .dryRun && found.taken.restored > 0 && found.refusal == nil
        return isNext && !layout.hidesNotes ? text + "\n  next: the same command without --dry-run" : text
    }

    /// The result as JSON.
    package var json: JSONReport { UndoJSON(found).json }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        var report = Report(
            command: "undo", title: "Undo of job \(found.job) on \(found.namespace)",
            headline: UndoText.headline(found), level: level)
        report.facts = [
            Report.Fact(
                name: found.outcome == .dryRun ? "would be undone" : "undone",
                value: found.taken.restored.grouped),
            Report.Fact(name: "changes", value: found.journal.changes.grouped),
            Report.Fact(name: "chunks", value: found.journal.chunks.grouped),
            Report.Fact(name: "took", value: "\(found.seconds.inTenths) s"),
        ]
        if found.taken.earlier > 0 {
            report.facts.append(Report.Fact(name: "undone earlier", value: found.taken.earlier.grouped))
        }
        report.gauges = [found.headroom?.gauge].compactMap(\.self)
        report.sectionKind = "outcome"
        report.sections = [changes, children].filter { !$0.findings.isEmpty }
        report.notes = found.notes + (found.refusal.map { ["An undo would be refused: \($0)"] } ?? [])
        return report
    }

    private var level: Report.Level {
        if case .stopped = found.outcome { return .warning }
        if found.hasFindings { return .warning }
        return found.outcome == .dryRun ? .notice : .good
    }

    private static let columns =
        [Report.Column(title: "documents", isNumber: true)]
        + ["reason", "_id"].map { Report.Column(title: $0) }

    private var changes: Report.Section {
        let lost = [
            ("chunks are missing from the journal", found.journal.missing),
            ("written without a journal", found.unjournaled),
        ].filter { $0.1 > 0 }.map { finding($0.0, $0.1, [], isTrouble: true) }
        return Report.Section(
            name: "Not undone", columns: Self.columns,
            findings: found.skipped.filter { $0.count > 0 }.map {
                finding($0.left.text, $0.count, $0.ids, isTrouble: $0.left.reason.isTrouble)
            } + lost)
    }

    private var children: Report.Section {
        Report.Section(
            name: "Kept in other collections", columns: Self.columns,
            findings: (found.children?.left ?? []).map {
                finding("\($0.namespace): \($0.reason.text)", $0.count, $0.ids, isTrouble: true)
            })
    }

    private func finding(_ reason: String, _ count: Int, _ ids: [BSONValue], isTrouble: Bool) -> Report.Finding {
        let shown = ids.isEmpty ? "" : UndoText.ids(ids, of: count)
        return Report.Finding(
            level: isTrouble ? .error : .notice, isFailure: isTrouble, code: reason, subject: "",
            message: "\(count.grouped) \(reason)" + (shown.isEmpty ? "" : ", \(shown)"),
            cells: [
                Report.Cell(count.grouped), Report.Cell(reason, level: isTrouble ? .error : .notice),
                Report.Cell(shown, isCode: true),
            ])
    }
}
