import BSON
package import Backfill
import Checking
import Jobs
import Running
import ServerSchema
import Steps

/// A job's plan as text, which the operator reads before confirming the run.
package enum BackfillPlanText {
    /// Renders the plan.
    package static func render(_ plan: BackfillPlan) -> String {
        var lines = [
            "job \(plan.job) on \(plan.namespace): "
                + (plan.needing.map { needing in
                    "\(needing.grouped) of \(plan.collection.documents.documents) "
                        + (needing == 1 ? "needs it" : "need it")
                } ?? "\(plan.collection.documents.documents); how many need it was not counted, because of --yes")
        ]
        if let chunks = plan.resumesAfter { lines.append("  resumes after \(chunks.counted("chunk")) of earlier runs") }
        lines += StepLines.render(plan.before, title: "to change")
        if plan.refreshable > 0 {
            lines.append(
                "  \(plan.refreshable.documents) to refresh: the source changed after the job wrote the target")
        }
        if let headroom = plan.risk.headroom {
            lines.append(
                "  makes \(plan.risk.madeUnsyncable.documents) unsyncable under the active schema (\(headroom.text))")
        }
        lines += plan.notes.map { "  note: \($0)" }
        return lines.asLines
    }
}

/// A backfill's report as text.
package enum BackfillReportText {
    /// Renders the report.
    /// - Parameters:
    ///   - showsValues: whether the sample documents show values, and not only types.
    ///   - color: whether the text has escape sequences for colours.
    package static func render(_ report: BackfillReport, showsValues: Bool, color: Bool) -> String {
        var lines: [String] = []
        let isDryRun = report.outcome == .dryRun
        lines.append(
            "  \(isDryRun ? "would change" : "changed") \(report.work.modifiedIsLow ? "at least " : "")"
                + "\(report.work.modified.grouped) of "
                + report.estimatedDocuments.documents
                + (report.work.updates > report.work.modified ? " by \(report.work.updates.counted("update"))" : "")
                + " in \(report.work.chunks.counted("chunk")), "
                + "\(report.work.seconds.inTenths) s"
                + (report.work.earlierChunks > 0
                    ? " (after \(report.work.earlierChunks.counted("chunk")) of earlier runs)" : ""))
        if let refreshed = report.work.refreshed, refreshed > 0 {
            lines.append(
                "  \(isDryRun ? "would refresh" : "refreshed") \(refreshed.documents): "
                    + "the source changed after the job wrote the target")
        }
        if let unsyncable = report.unsyncable {
            lines.append(
                unsyncable.before.map {
                    "  \(unsyncable.dialect.unfit) under the next schema: \($0.documents) now, "
                        + "\(unsyncable.after.grouped) after the job"
                } ?? "  still \(unsyncable.dialect.unfit) under the next schema: \(unsyncable.after.documents)")
        }
        if let madeUnsyncable = report.madeUnsyncable {
            let room = report.headroom.map { " (\($0.text))" } ?? ""
            let made = isDryRun ? "would make" : "made"
            lines.append("  \(made) \(madeUnsyncable.documents) unsyncable under the active schema\(room)")
        }
        lines += StepLines.render(isDryRun ? report.before : report.after, title: isDryRun ? "to change" : "remaining")
        lines += failures(report.failures, isDryRun: isDryRun)
        if let estimate = report.estimate, report.work.modified > 0 { lines += Self.text(of: estimate) }
        if isDryRun { lines += samples(report.samples, showsValues: showsValues) }
        lines += report.work.waits.map { "  waited \($0.seconds.inTenths) s: \($0.waitReason)" }
        lines += report.notes.map { "  note: \($0)" }
        if let refusal = report.refusal { lines.append("  a run would be refused: \(refusal)") }
        let title = Paint(isOn: color).bold(headline(report).printable)
        return ([title] + lines).asLines
    }

    static func headline(_ report: BackfillReport) -> String {
        let name = "job \(report.job) on \(report.namespace)"
        switch report.outcome {
        case .dryRun: return "\(name): dry run, nothing was written"
        case .nothingToDo: return "\(name): nothing to do"
        case .done: return "\(name): done"
        case .stopped(let stop): return "\(name): stopped by \(stop.text); \(stop.remedy(for: report.job))"
        }
    }

    private static func text(of estimate: RunEstimate) -> [String] {
        let share = estimate.oplogShare.map { share in
            share < 0.001 ? " (less than 0.1% of its size)" : " (\((share * 100).inTenths)% of its size)"
        }
        return [
            "  a run would take about \(duration(estimate.seconds)) (if it reads as fast as now, makes "
                + "\(RunEstimate.assumedWrites.grouped) writes a second and never waits)",
            "  a run would write about \(size(estimate.oplogBytes)) to the oplog\(share ?? "")"
                + (estimate.journalBytes > 0 ? ", including \(size(estimate.journalBytes)) of journal" : ""),
        ]
    }

    private static func duration(_ seconds: Double) -> String {
        switch Int(seconds.rounded(.up)) {
        case ..<100: "\(max(1, Int(seconds.rounded(.up)))) s"
        case ..<6_000: "\(Int((seconds / 60).rounded(.up))) min"
        default: "\(Int((seconds / 3_600).rounded(.up)).grouped) h"
        }
    }

    private static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<(1 << 20): "\(max(1, (bytes + 512) >> 10).grouped) KiB"
        case ..<(100 << 30): "\(((bytes + (1 << 19)) >> 20).grouped) MiB"
        default: "\((bytes >> 30).grouped) GiB"
        }
    }

    private static func failures(_ groups: [BackfillReport.FailureGroup], isDryRun: Bool) -> [String] {
        groups.map { group in
            let code = group.code == 0 ? "" : " (code \(group.code))"
            return
                "  \(isDryRun ? "would be skipped" : "skipped"), \(group.name)\(code): \(group.count.grouped), such as "
                + "_id " + group.samples.prefix(3).map(ShellLiteral.text).joined(separator: ", ")
        }
    }

    private static func samples(_ samples: [BackfillReport.Sample], showsValues: Bool) -> [String] {
        guard !samples.isEmpty else { return [] }
        func text(_ value: BSONValue?) -> String {
            guard let value else { return "missing" }
            return showsValues ? ShellLiteral.text(value) : value.type.description
        }
        return ["  for example:"]
            + samples.map { sample in
                let changes = zip(sample.before, sample.after).map { before, after in
                    before.value == after.value
                        ? "\(before.path) \(text(before.value))"
                        : "\(before.path) \(text(before.value)) → \(text(after.value))"
                }
                return "    _id \(ShellLiteral.text(sample.id)): " + changes.joined(separator: ", ")
            }
    }
}

extension Headroom {
    /// The number of unsynced documents and its limit, such as `unsynced documents: 292 in the ledger + 10 pending,
    /// must stay under 90,000`.
    var text: String { "unsynced documents: \(sum)" }

    /// The counts and the limit alone, such as `292 in the ledger + 10 pending, must stay under 90,000`.
    var sum: String {
        let entries = ledger?.words ?? "no ledger"
        return "\(entries) + \(pending.grouped) pending, must stay under \(ceiling.grouped)"
    }
}

/// Writes a line for each step of a job, and below it a line for each reason why the step skips documents.
private enum StepLines {
    static func render(_ steps: [StepCount], title: String) -> [String] {
        steps.flatMap { step in
            ["  \(step.step): \(step.needing.grouped) \(title)"]
                + step.skipped.filter { $0.count > 0 }.map { left in
                    let ids = left.samples.prefix(3).map(ShellLiteral.text).joined(separator: ", ")
                    let remedy =
                        left.reason == CompiledStep.Reason.notConvertible.rawValue
                        ? " (\"onLoss: allow\" in the step converts values that are only rounded)" : ""
                    return "    skipped, \(left.reason): \(left.count.grouped)"
                        + (ids.isEmpty ? "" : ", such as _id \(ids)") + remedy
                }
        }
    }
}

extension Double {
    /// The number as text, rounded to tenths, such as `1.5`.
    var inTenths: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The texts for a run that was stopped before its end.
extension RunStop {
    /// The reason for the stop, with thousands separators in its numbers.
    var text: String {
        if case .threshold(let headroom) = self { "the limit of unsynced documents: \(headroom.sum)" } else { reason }
    }

    /// Returns the advice to run the job again, or what to do first if the next run would also stop.
    /// - Parameter job: the name of the job.
    func remedy(for job: String) -> String {
        switch self {
        case .signal, .timeBudget, .arrivals: "run it again to continue"
        case .failures:
            "fix the documents, or let more be skipped with --max-errors; else the next run stops at the same place"
        case .threshold:
            "free some room first: \(Headroom.remedies(for: job)); then run it again"
        }
    }
}

extension RunStop? {
    /// The reason for the stop, as JSON; JSON `null` if the run did not stop.
    var json: ReportValue { map { .string($0.reason) } ?? .null }
}

extension LedgerCount {
    /// The number of entries in the ledger, such as `292 in the ledger`.
    ///
    /// If the entries name fewer documents, the text has both numbers: `292 entries of 290 documents in the ledger`.
    var words: String {
        guard let documents, documents < entries else { return "\(entries.grouped) in the ledger" }
        return "\(entries.entries) of \(documents.documents) in the ledger"
    }
}
