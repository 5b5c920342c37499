import BSON
package import JobReports
import JobState
import Running

/// The result of an undo or of its dry run, in every output format.
package struct UndoResult: Reportable {
    let found: UndoReport

    package init(_ report: UndoReport) { found = report }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        var report = Report(
            command: "undo", title: "Undo of job \(found.job) on \(found.namespace)",
            headline: headline, level: level)
        report.lines = lines
        report.figures.facts = [
            Report.Fact(
                name: found.outcome == .dryRun ? "would be undone" : "undone",
                value: found.taken.restored.grouped),
            Report.Fact(name: "changes", value: found.journal.changes.grouped),
            Report.Fact(name: "chunks", value: found.journal.chunks.grouped),
            Report.Fact(name: "took", value: "\(found.seconds.inTenths) s"),
        ]
        if found.taken.earlier > 0 {
            report.figures.facts.append(Report.Fact(name: "undone earlier", value: found.taken.earlier.grouped))
        }
        report.figures.gauges = [found.headroom?.gauge].compactMap(\.self)
        report.style.sectionKind = "outcome"
        report.sections = [changes, children].filter { !$0.findings.isEmpty }
        report.style.listsFindings = true
        report.notes = found.notes
        report.warnings = [found.refusal.map { "an undo would be refused: \($0)" }].compactMap(\.self)
        let isNext = found.outcome == .dryRun && found.taken.restored > 0 && found.refusal == nil
        report.next = isNext ? ["Next: the same command without --dry-run"] : []
        return report
    }

    private var headline: String {
        let name = "undo of job \(found.job) on \(found.namespace)"
        return switch found.outcome {
        case .dryRun: "\(name): nothing was written"
        case .undoneBefore: "\(name): already undone"
        case .done: "\(name): done"
        case .stopped(let stop): "\(name): stopped by \(stop.text); run it again to continue"
        }
    }

    private var lines: [String] {
        let isDryRun = found.outcome == .dryRun
        let (taken, journal) = (found.taken, found.journal)
        guard found.isCounted else {
            return [
                "\(journal.changes.counted("change")) in \(journal.chunks.counted("chunk")); how many can be undone "
                    + "was not counted, because of --yes"
            ]
        }
        var lines: [String] = []
        if found.outcome != .undoneBefore {
            lines.append(
                "\(isDryRun ? "would undo" : "undid") \(taken.restored.grouped) of "
                    + "\(journal.changes.counted("change")) in \(journal.chunks.counted("chunk")), "
                    + "\(found.seconds.inTenths) s"
                    + (taken.earlier > 0 ? " (after \(taken.earlier.grouped) by earlier undos)" : ""))
        }
        if taken.asBefore > 0, isDryRun { lines.append("already as before the job: \(taken.asBefore.grouped)") }
        if let children = found.children {
            let earlier = children.earlier > 0 ? " (after \(children.earlier.grouped) by earlier undos)" : ""
            let gone = children.gone > 0 ? "; \(children.gone.grouped) no longer there" : ""
            lines.append(
                "\(isDryRun ? "would remove" : "removed") \(children.removed.documents) that the job created in other "
                    + "collections\(earlier)\(gone)")
        }
        return lines
            + [found.madeUnsyncable?.unsyncable(isDryRun ? "would make" : "made", found.headroom)].compactMap(\.self)
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
        let (missing, attempts) = (found.journal.missing, found.journal.attempts.counted("chunk"))
        let (are, their) = missing == 1 ? ("is", "its") : ("are", "their")
        let incomplete = finding(
            "chunks are missing from the journal", missing, [],
            "the journal is incomplete: \(missing.grouped) of \(attempts) \(are) missing, and \(their) changes cannot "
                + "be undone")
        return Report.Section(
            name: "Not undone", columns: Self.columns,
            findings: found.skipped.filter { $0.count > 0 }.map {
                finding(
                    $0.left.text, $0.count, $0.ids, "skipped, \($0.left.text): \($0.count.grouped)",
                    isTrouble: $0.left.reason.isTrouble)
            } + (missing > 0 ? [incomplete] : []))
    }

    private var children: Report.Section {
        Report.Section(
            name: "Kept in other collections", columns: Self.columns,
            findings: (found.children?.left ?? []).map {
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
            level: isTrouble ? .error : .notice, isFailure: isTrouble, code: reason, subject: "",
            message: message + (shown.isEmpty ? "" : ", \(shown)"),
            cells: [
                Report.Cell(count.grouped), Report.Cell(reason, level: isTrouble ? .error : .notice),
                Report.Cell(shown, isCode: true),
            ])
    }

    /// The maximum number of `_id`s that are shown for each reason.
    private static let maximumShown = 10

    private static func shown(_ ids: [BSONValue], of count: Int) -> String {
        "\(count > min(ids.count, maximumShown) ? "such as " : "")_id "
            + ids.prefix(maximumShown).map(ShellLiteral.text).joined(separator: ", ")
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
