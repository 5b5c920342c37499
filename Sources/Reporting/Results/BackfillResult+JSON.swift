import BSON
import Checking
import JobReports
import JobState
import Running
import Steps

extension BackfillResult {
    package var json: JSONReport {
        JSONReport(
            "backfill",
            [
                "job": found.job, "database": found.namespace.database, "collection": found.namespace.collection,
                "outcome": outcome, "stopped_by": found.outcome.stop?.reason,
                "duration_ms": Int(found.work.seconds * 1_000), "documents": found.estimatedDocuments,
                "changed": found.work.modified, "updates": found.work.updates, "refreshed": found.work.refreshed,
                "chunks": found.work.chunks, "earlier_chunks": found.work.earlierChunks,
                "unsyncable_before": found.unsyncable?.before, "unsyncable_after": found.unsyncable?.after,
                "harm": found.madeUnsyncable, "headroom": found.headroom?.json, "refusal": found.refusal,
                "estimate": estimate, "failures": found.failures.map(failure),
                "steps": (found.before.isEmpty ? found.after : found.before).indices.map(step),
                "samples": found.samples.map(sample), "waits": found.work.waits.map(wait),
                "limited_by": found.work.bound, "notes": found.notes, "disagreement": found.disagreement,
            ])
    }

    private var outcome: String {
        switch found.outcome {
        case .dryRun: "dry_run"
        case .nothingToDo: "nothing_to_do"
        case .done: "done"
        case .stopped: "stopped"
        }
    }

    private func wait(_ wait: ThrottleWait) -> ReportValue {
        wait.waitReason.json + ["duration_ms": Int(wait.seconds * 1_000)]
    }

    private func step(_ index: Int) -> ReportValue {
        let before = found.before.isEmpty ? nil : found.before[index]
        let after = found.after.isEmpty ? nil : found.after[index]
        return [
            "step": (before ?? after)?.step ?? "", "needing_before": before?.needing,
            "needing_after": after?.needing,
            "left_alone": after?.skipped.filter { $0.count > 0 }.map(skipped),
        ]
    }

    private var estimate: ReportValue {
        guard let estimate = found.work.estimate, found.outcome == .dryRun else { return .null }
        return [
            "duration_ms": Int(estimate.seconds * 1_000), "assumed_writes_per_second": RunEstimate.assumedWrites,
            "bound_by": estimate.isBoundByConsumer ? "consumer" : nil, "oplog_bytes": estimate.oplogBytes,
            "oplog_share_percent": estimate.oplogShare.map { BSONValue.double(($0 * 1_000).rounded() / 10) },
            "journal_bytes": estimate.journalBytes,
        ]
    }

    private func failure(_ group: BackfillReport.FailureGroup) -> ReportValue {
        [
            "code": group.code == 0 ? nil : group.code, "reason": group.name, "documents": group.count,
            "sample_ids": group.samples,
        ]
    }

    private func skipped(_ left: StepCount.Skipped) -> ReportValue {
        ["reason": left.reason, "is_finding": left.isTrouble, "documents": left.count, "sample_ids": left.samples]
    }

    private func sample(_ sample: BackfillReport.Sample) -> ReportValue {
        ["_id": sample.id, "before": fields(sample.before), "after": fields(sample.after)]
    }

    private func fields(_ fields: [(path: String, value: BSONValue?)]) -> ReportValue {
        .object(
            fields.compactMap { field in
                field.value.map { (field.path, showsValues ? .extended($0) : .string($0.type.description)) }
            })
    }
}

extension WaitReason {
    var json: ReportValue { ["brake": reason.rawValue, "metric": metric, "value": value, "limit": limit] }
}

extension Headroom {
    /// The number of documents that may still become unsyncable, and the counts from which it results, as JSON.
    var json: ReportValue {
        [
            "ledger": ledger?.entries, "ledger_documents": ledger?.documents, "pending": pending,
            "ceiling": ceiling, "documents": documents,
        ]
    }
}
