import BSON
package import Backfill
import Checking
import JobState
import Running
import Steps

/// A backfill's report as JSON: one object with its keys in a fixed order.
package struct BackfillReportJSON {
    private let report: BackfillReport
    private let showsValues: Bool

    /// Wraps a report; `showsValues` decides whether the sample documents show the values of their fields or only the
    /// types.
    package init(_ report: BackfillReport, showsValues: Bool) {
        self.report = report
        self.showsValues = showsValues
    }

    /// The JSON text, indented, which ends with a line break.
    package var text: String { json.text }

    var json: JSONReport { JSONReport("backfill", job + counts + details) }

    private var job: [(String, ReportValue)] {
        [
            ("job", .string(report.job)),
            ("database", .string(report.namespace.database)),
            ("collection", .string(report.namespace.collection)),
            ("outcome", .string(outcome)),
            ("stopped_by", report.outcome.stop.json),
            ("duration_ms", .integer(Int(report.work.seconds * 1_000))),
        ]
    }

    private var counts: [(String, ReportValue)] {
        [
            ("documents", .integer(report.estimatedDocuments)),
            ("changed", .integer(report.work.modified)), ("changed_is_lower_bound", .bool(report.work.modifiedIsLow)),
            ("updates", .integer(report.work.updates)),
            ("refreshed", report.work.refreshed.map { .integer($0) } ?? .null),
            ("chunks", .integer(report.work.chunks)),
            ("earlier_chunks", .integer(report.work.earlierChunks)),
            ("unsyncable_before", report.unsyncable?.before.map { .integer($0) } ?? .null),
            ("unsyncable_after", report.unsyncable.map { .integer($0.after) } ?? .null),
        ]
    }

    private var details: [(String, ReportValue)] {
        [
            ("harm", report.madeUnsyncable.map { .integer($0) } ?? .null),
            ("headroom", report.headroom?.json ?? .null),
            ("refusal", report.refusal.map { .string($0) } ?? .null),
            ("estimate", estimate),
            ("failures", .array(report.failures.map(failure))),
            ("steps", .array((report.before.isEmpty ? report.after : report.before).indices.map(step))),
            ("samples", .array(report.samples.map(sample))),
            ("waits", .array(report.work.waits.map(wait))),
            ("notes", .array(report.notes.map { .string($0) })),
        ]
    }

    private var outcome: String {
        switch report.outcome {
        case .dryRun: "dry_run"
        case .nothingToDo: "nothing_to_do"
        case .done: "done"
        case .stopped: "stopped"
        }
    }

    private func wait(_ wait: ThrottleWait) -> ReportValue {
        .object([
            ("brake", .string(wait.waitReason.reason.rawValue)),
            ("metric", .string(wait.waitReason.metric)),
            ("value", .string(wait.waitReason.value)),
            ("limit", .string(wait.waitReason.limit)),
            ("duration_ms", .integer(Int(wait.seconds * 1_000))),
        ])
    }

    private func step(_ index: Int) -> ReportValue {
        let before = report.before.isEmpty ? nil : report.before[index]
        let after = report.after.isEmpty ? nil : report.after[index]
        return .object([
            ("step", .string((before ?? after)?.step ?? "")),
            ("needing_before", before.map { .integer($0.needing) } ?? .null),
            ("needing_after", after.map { .integer($0.needing) } ?? .null),
            ("left_alone", after.map { .array($0.skipped.filter { $0.count > 0 }.map(skipped)) } ?? .null),
        ])
    }

    private var estimate: ReportValue {
        guard let estimate = report.estimate else { return .null }
        return .object([
            ("duration_ms", .integer(Int(estimate.seconds * 1_000))),
            ("assumed_writes_per_second", .integer(RunEstimate.assumedWrites)),
            ("oplog_bytes", .integer(estimate.oplogBytes)),
            (
                "oplog_share_percent",
                estimate.oplogShare.map { .extended(.double(($0 * 1_000).rounded() / 10)) } ?? .null
            ),
            ("journal_bytes", .integer(estimate.journalBytes)),
        ])
    }

    private func failure(_ group: BackfillReport.FailureGroup) -> ReportValue {
        .object([
            ("code", group.code == 0 ? .null : .integer(group.code)), ("reason", .string(group.name)),
            ("documents", .integer(group.count)), ("sample_ids", .array(group.samples.map { .extended($0) })),
        ])
    }

    private func skipped(_ left: StepCount.Skipped) -> ReportValue {
        .object([
            ("reason", .string(left.reason)),
            ("is_finding", .bool(left.isTrouble)),
            ("documents", .integer(left.count)),
            ("sample_ids", .array(left.samples.map { .extended($0) })),
        ])
    }

    private func sample(_ sample: BackfillReport.Sample) -> ReportValue {
        .object([("_id", .extended(sample.id)), ("before", fields(sample.before)), ("after", fields(sample.after))])
    }

    private func fields(_ fields: [(path: String, value: BSONValue?)]) -> ReportValue {
        .object(
            fields.compactMap { field in
                field.value.map { (field.path, showsValues ? .extended($0) : .string($0.type.description)) }
            })
    }
}

extension Headroom {
    /// The counts that make up the headroom, as JSON.
    var json: ReportValue {
        .object([
            ("ledger", ledger.map { .integer($0.entries) } ?? .null),
            ("ledger_documents", ledger?.documents.map { .integer($0) } ?? .null),
            ("pending", .integer(pending)),
            ("ceiling", .integer(ceiling)),
            ("documents", .integer(documents)),
        ])
    }
}
