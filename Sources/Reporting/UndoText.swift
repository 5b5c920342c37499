import BSON
package import Backfill
import JobState

/// An undo's report as text, also that of its dry run, which the operator sees before confirming the undo.
package enum UndoText {
    /// The maximum number of `_id`s that are shown for each reason.
    private static let shown = 10

    /// Renders what an undo would do, or has done.
    /// - Parameter color: whether the text has escape sequences for colours.
    package static func render(_ report: UndoReport, color: Bool) -> String {
        var lines = [Paint(isOn: color).bold(headline(report))]
        if report.outcome != .undoneBefore {
            let verb = report.outcome == .dryRun ? "would undo" : "undid"
            lines.append(
                "  \(verb) \(report.taken.restored.grouped) of \(report.journal.changes.counted("change")) in "
                    + "\(report.journal.chunks.counted("chunk")), \(report.seconds.inTenths) s"
                    + (report.taken.earlier > 0 ? " (after \(report.taken.earlier.grouped) by earlier undos)" : ""))
        }
        if report.taken.asBefore > 0, report.outcome == .dryRun {
            lines.append("  already as before the job: \(report.taken.asBefore.grouped)")
        }
        if report.journal.missing > 0 {
            lines.append(
                "  the journal is incomplete: \(report.journal.missing.grouped) of "
                    + "\(report.journal.attempts.counted("chunk")) \(report.journal.missing == 1 ? "is" : "are") "
                    + "missing, and \(report.journal.missing == 1 ? "its" : "their") changes cannot be undone"
            )
        }
        if report.taken.included.count > 0 {
            lines.append(
                "  of these uncertain, included because of --include-uncertain: "
                    + "\(report.taken.included.count.grouped), "
                    + ids(report.taken.included.ids, of: report.taken.included.count))
        }
        lines += report.skipped.filter { $0.count > 0 }.map { left in
            "  skipped, \(left.left.text): \(left.count.grouped), \(ids(left.ids, of: left.count))"
        }
        if let children = report.children { lines += self.children(children, isDry: report.outcome == .dryRun) }
        if report.unjournaled > 0 {
            lines.append(
                "  skipped, written without a journal by an earlier version: at least "
                    + report.unjournaled.documents)
        }
        if let madeUnsyncable = report.madeUnsyncable {
            let verb = report.outcome == .dryRun ? "would make" : "made"
            let room = report.headroom.map { " (\($0.text))" } ?? ""
            lines.append("  \(verb) \(madeUnsyncable.documents) unsyncable under the active schema\(room)")
        }
        lines += report.notes.map { "  note: \($0)" }
        if let refusal = report.refusal { lines.append("  an undo would be refused: \(refusal)") }
        return lines.asLines
    }

    static func headline(_ report: UndoReport) -> String {
        let name = "undo of job \(report.job) on \(report.namespace)"
        return switch report.outcome {
        case .dryRun: "\(name): nothing was written"
        case .undoneBefore: "\(name): already undone"
        case .done: "\(name): done"
        case .stopped(let stop): "\(name): stopped by \(stop.text); run it again to continue"
        }
    }

    private static func children(_ children: UndoReport.Children, isDry: Bool) -> [String] {
        let verb = isDry ? "would remove" : "removed"
        let earlier = children.earlier > 0 ? " (after \(children.earlier.grouped) by earlier undos)" : ""
        let gone = children.gone > 0 ? "; \(children.gone.grouped) no longer there" : ""
        return ["  \(verb) \(children.removed.documents) that the job created in other collections\(earlier)\(gone)"]
            + children.left.map { left in
                "  kept in \(left.namespace), \(left.reason.text): \(left.count.grouped), "
                    + ids(left.ids, of: left.count)
            }
    }

    static func ids(_ ids: [BSONValue], of count: Int) -> String {
        "\(count > min(ids.count, shown) ? "such as " : "")_id "
            + ids.prefix(shown).map(ShellLiteral.text).joined(separator: ", ")
    }
}

extension UndoReport.ChildReason {
    var text: String {
        switch self {
        case .changed: "changed since"
        case .linked: "a document might link to it"
        case .shared: "another job uses that collection; undo that job first"
        case .refused: "refused by the server, or too large to compare"
        }
    }
}

extension UndoReport.LeftDocument {
    var text: String {
        switch reason {
        case .changed: "changed since"
        case .gone: "no longer there"
        case .uncertain: "uncertain whether the job wrote it"
        case .locked: "locked by the sync translator"
        case .refused:
            code.flatMap(Failure.words) ?? "refused by the server" + (code.map { " (code \($0))" } ?? "")
        }
    }
}
