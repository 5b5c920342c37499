import BSON
package import Backfill

/// An undo's report as JSON: one object with its keys in a fixed order.
package struct UndoJSON {
    private let report: UndoReport

    /// Wraps a report.
    package init(_ report: UndoReport) { self.report = report }

    /// The JSON text, indented, which ends with a line break.
    package var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "undo",
            [
                ("job", .string(report.job)),
                ("database", .string(report.namespace.database)),
                ("collection", .string(report.namespace.collection)),
                ("outcome", .string(outcome)),
                ("stopped_by", report.outcome.stop.json),
                ("duration_ms", .integer(Int(report.seconds * 1_000))),
                ("chunks", .integer(report.journal.chunks)),
                ("changes", .integer(report.journal.changes)),
                ("restored", .integer(report.taken.restored)),
                ("restored_earlier", .integer(report.taken.earlier)),
                ("as_before", .integer(report.taken.asBefore)),
                ("missing_chunks", .integer(report.journal.missing)),
                (
                    "included_uncertain",
                    .object([
                        ("documents", .integer(report.taken.included.count)),
                        ("ids", .array(report.taken.included.ids.map { .extended($0) })),
                    ])
                ),
                ("left_alone", .array(report.skipped.filter { $0.count > 0 }.map(left))),
                ("created", children),
                (
                    "written_without_journal",
                    .array(report.unjournaled == 0 ? [] : [.object([("missing", .integer(report.unjournaled))])])
                ),
                ("harm", report.madeUnsyncable.map { .integer($0) } ?? .null),
                ("headroom", report.headroom?.json ?? .null),
                ("refusal", report.refusal.map { .string($0) } ?? .null),
                ("notes", .array(report.notes.map { .string($0) })),
            ])
    }

    private var outcome: String {
        switch report.outcome {
        case .dryRun: "dry_run"
        case .undoneBefore: "undone_before"
        case .done: "done"
        case .stopped: "stopped"
        }
    }

    private var children: ReportValue {
        guard let children = report.children else { return .null }
        return .object([
            ("removed", .integer(children.removed)),
            ("removed_earlier", .integer(children.earlier)),
            ("gone", .integer(children.gone)),
            (
                "left_alone",
                .array(
                    children.left.map { left in
                        .object([
                            ("database", .string(left.namespace.database)),
                            ("collection", .string(left.namespace.collection)),
                            ("reason", .string(left.reason.rawValue)), ("documents", .integer(left.count)),
                            ("ids", .array(left.ids.map { .extended($0) })),
                        ])
                    })
            ),
        ])
    }

    private func left(_ left: UndoReport.Skipped) -> ReportValue {
        .object([
            ("reason", .string(left.left.reason.rawValue)),
            ("code", left.left.code.map { .integer($0) } ?? .null),
            ("is_finding", .bool(left.left.reason.isTrouble)),
            ("documents", .integer(left.count)),
            ("ids", .array(left.ids.map { .extended($0) })),
        ])
    }
}
