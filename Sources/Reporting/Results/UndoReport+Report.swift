import BSON
package import JobReports
import JobState
import Running

/// The result of an undo or of its dry run, in every output format.
extension UndoReport: Reportable {
    package var json: JSONReport {
        JSONReport(
            "undo",
            [
                "job": job, "database": namespace.database, "collection": namespace.collection,
                "outcome": outcomeCode, "stopped_by": outcome.stop?.reason, "duration_ms": Int(seconds * 1_000),
                "chunks": journal.chunks, "changes": journal.changes, "restored": taken.restored,
                "restored_earlier": taken.earlier, "as_before": taken.asBefore, "missing_chunks": journal.missing,
                "left_alone": skipped.filter { $0.count > 0 }.map(left), "created": created, "harm": madeUnsyncable,
                "headroom": headroom?.json, "refusal": refusal, "notes": notes,
            ])
    }

    private var outcomeCode: String {
        switch outcome {
        case .dryRun: "dry_run"
        case .undoneBefore: "undone_before"
        case .done: "done"
        case .stopped: "stopped"
        }
    }

    private var created: ReportValue {
        guard let children else { return .null }
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

    package var report: Report {
        var report = Report(
            command: "undo", title: "Undo of job \(job) on \(namespace)", headline: headline, level: level)
        report.lines = lines
        report.figures.facts = [
            Report.Fact(outcome == .dryRun ? "would be undone" : "undone", taken.restored),
            Report.Fact("changes", journal.changes), Report.Fact("chunks", journal.chunks), .seconds("took", seconds),
        ]
        if taken.earlier > 0 { report.figures.facts.append(Report.Fact("undone earlier", taken.earlier)) }
        report.figures.gauges = [headroom?.gauge].compactMap(\.self)
        report.style.sectionKind = "outcome"
        report.sections = [notUndone, kept].filter { !$0.findings.isEmpty }
        report.style.listsFindings = true
        report.notes = notes
        report.warnings = [refusal.map { "an undo would be refused: \($0)" }].compactMap(\.self)
        let isNext = outcome == .dryRun && taken.restored > 0 && refusal == nil
        report.next = isNext ? ["Next: the same command without --dry-run"] : []
        return report
    }

    private var headline: String {
        let name = "undo of job \(job) on \(namespace)"
        return switch outcome {
        case .dryRun: "\(name): nothing was written"
        case .undoneBefore: "\(name): already undone"
        case .done: "\(name): done"
        case .stopped(let stop): "\(name): stopped by \(stop.text); run it again to continue"
        }
    }

    private var lines: [String] {
        let isDryRun = outcome == .dryRun
        guard isCounted else {
            return [
                "\(journal.changes.counted("change")) in \(journal.chunks.counted("chunk")); how many can be undone "
                    + "was not counted, because of --yes"
            ]
        }
        var lines: [String] = []
        if outcome != .undoneBefore {
            lines.append(
                "\(isDryRun ? "would undo" : "undid") \(taken.restored.grouped) of "
                    + "\(journal.changes.counted("change")) in \(journal.chunks.counted("chunk")), "
                    + "\(seconds.inTenths) s"
                    + (taken.earlier > 0 ? " (after \(taken.earlier.grouped) by earlier undos)" : ""))
        }
        if taken.asBefore > 0, isDryRun { lines.append("already as before the job: \(taken.asBefore.grouped)") }
        if let children {
            let earlier = children.earlier > 0 ? " (after \(children.earlier.grouped) by earlier undos)" : ""
            let gone = children.gone > 0 ? "; \(children.gone.grouped) no longer there" : ""
            lines.append(
                "\(isDryRun ? "would remove" : "removed") \(children.removed.documents) that the job created in other "
                    + "collections\(earlier)\(gone)")
        }
        return lines
            + [madeUnsyncable?.unsyncable(isDryRun ? "would make" : "made", headroom)].compactMap(\.self)
    }

    private var level: Report.Level {
        if case .stopped = outcome { return .warning }
        if hasFindings { return .warning }
        return outcome == .dryRun ? .notice : .good
    }

    private static let columns: [Report.Column] = [.number("documents"), "reason", "_id"]

    private var notUndone: Report.Section {
        let (missing, attempts) = (journal.missing, journal.attempts.counted("chunk"))
        let (are, their) = missing == 1 ? ("is", "its") : ("are", "their")
        let incomplete = finding(
            "chunks are missing from the journal", missing, [],
            "the journal is incomplete: \(missing.grouped) of \(attempts) \(are) missing, and \(their) changes cannot "
                + "be undone")
        return Report.Section(
            name: "Not undone", columns: Self.columns,
            findings: skipped.filter { $0.count > 0 }.map {
                finding(
                    $0.left.text, $0.count, $0.ids, "skipped, \($0.left.text): \($0.count.grouped)",
                    isTrouble: $0.left.reason.isTrouble)
            } + (missing > 0 ? [incomplete] : []))
    }

    private var kept: Report.Section {
        Report.Section(
            name: "Kept in other collections", columns: Self.columns,
            findings: (children?.left ?? []).map {
                finding(
                    "\($0.namespace): \($0.reason.text)", $0.count, $0.ids,
                    "kept in \($0.namespace), \($0.reason.text): \($0.count.grouped)")
            })
    }

    /// Returns the finding for one reason why an undo is incomplete, with a count and the `_id`s of the documents.
    /// - Parameter message: the beginning of the finding's message; the `_id`s are added to it.
    private func finding(
        _ reason: String, _ count: Int, _ ids: [BSONValue], _ message: String, isTrouble: Bool = true
    ) -> Report.Finding {
        let shown = ids.isEmpty ? "" : Self.shown(ids, of: count)
        return Report.Finding(
            count, reason, ids: shown, message: message + (shown.isEmpty ? "" : ", \(shown)"), isTrouble: isTrouble)
    }

    private static let maximumShown = 10

    private static func shown(_ ids: [BSONValue], of count: Int) -> String {
        "\(count > min(ids.count, maximumShown) ? "such as " : "")_id "
            + ids.prefix(maximumShown).map(\.shellText).joined(separator: ", ")
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
        case .replaced: "another document of this _id"
        case .locked: "locked by the sync translator"
        case .refused:
            code.flatMap(Failure.words) ?? "refused by the server" + (code.map { " (code \($0))" } ?? "")
        }
    }
}
