import BSON
import JobReports
import Running

extension UndoResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport {
        JSONReport(
            "undo",
            [
                "job": found.job, "database": found.namespace.database, "collection": found.namespace.collection,
                "outcome": outcome, "stopped_by": found.outcome.stop?.reason,
                "duration_ms": Int(found.seconds * 1_000),
                "chunks": found.journal.chunks, "changes": found.journal.changes, "restored": found.taken.restored,
                "restored_earlier": found.taken.earlier, "as_before": found.taken.asBefore,
                "missing_chunks": found.journal.missing,
                "left_alone": found.skipped.filter { $0.count > 0 }.map(left), "created": created,
                "harm": found.madeUnsyncable, "headroom": found.headroom?.json, "refusal": found.refusal,
                "notes": found.notes,
            ])
    }

    private var outcome: String {
        switch found.outcome {
        case .dryRun: "dry_run"
        case .undoneBefore: "undone_before"
        case .done: "done"
        case .stopped: "stopped"
        }
    }

    private var created: ReportValue {
        guard let children = found.children else { return .null }
        return [
            "removed": children.removed, "removed_earlier": children.earlier, "gone": children.gone,
            "left_alone": children.left.map { left in
                [
                    "database": left.namespace.database, "collection": left.namespace.collection,
                    "reason": left.reason.rawValue, "documents": left.count, "ids": left.ids,
                ] as ReportValue
            },
        ]
    }

    private func left(_ left: UndoReport.Skipped) -> ReportValue {
        [
            "reason": left.left.reason.rawValue, "code": left.left.code, "is_finding": left.left.reason.isTrouble,
            "documents": left.count, "ids": left.ids,
        ]
    }
}
