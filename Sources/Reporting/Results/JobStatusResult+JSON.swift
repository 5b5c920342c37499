import BSON
import JobState
import Jobs

extension JobStatusResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport { JSONReport("status", ["jobs": jobs.map(job)]) }

    /// The object of ``json`` on one line, as `status --watch -o json` writes it for each update.
    package var line: String { (ReportValue.record("status") + json.value).line }

    /// The last line of `status --watch -o json`, with the number of jobs.
    package var end: String { (ReportValue.record("result") + JSONReport("status", ["jobs": jobs.count]).value).line }

    private func job(_ job: JobStatus) -> ReportValue {
        [
            "job": job.job, "database": job.namespace?.database,
            "collection": job.namespace?.collection, "state": job.state.rawValue.replacing(" ", with: "_"),
            "at": job.now.iso8601, "begun": job.created?.iso8601, "checkpointed": job.checkpointed?.iso8601,
            // Each chunk goes through all phases of the job before the next chunk begins, so the job as a whole is
            // always reported as phase 1 of 1.
            "phase": 1, "phases": 1, "walk": job.work.pass, "documents_passed": job.work.processed,
            "documents_estimated": job.work.estimate, "permille": job.share.map { Int($0 * 1_000) },
            "chunks": job.work.chunks, "changed": job.work.modified, "final": job.isFinal,
            "documents_per_second": job.work.rate.map { Int($0) },
            "seconds_left": job.secondsLeft.map { Int($0) }, "limited_by": job.boundShown,
            "waiting": job.waiting.map(brake),
            "stopped_by": job.state == .stopped ? job.stopped : nil, "paused": job.control.paused.map(mark),
            "deployed": job.control.deployed.map(mark), "holder": job.holder.map(holder),
            "set_aside": job.skipped.map(skipped), "pending_harm": job.pendingReservations,
            "pending_harm_is_provisional": job.areReservationsProvisional,
            "overrides": ReportValue.object(job.control.limits.map { ($0.name, .string($0.value)) }),
            "log": job.log.map(line),
        ]
    }

    private func brake(_ reason: WaitReason) -> ReportValue {
        ["brake": reason.reason.rawValue, "metric": reason.metric, "value": reason.value, "limit": reason.limit]
    }

    private func mark(_ mark: Control.Mark) -> ReportValue {
        ["by": mark.by, "at": mark.at?.iso8601, "note": mark.note]
    }

    private func holder(_ holder: JobStatus.Holder) -> ReportValue {
        ["host": holder.host, "process": holder.process, "since": holder.since?.iso8601]
    }

    private func skipped(_ code: String, _ count: Int) -> ReportValue {
        ["code": code, "documents": count]
    }

    private func line(_ line: JobStatus.LogLine) -> ReportValue {
        ["at": line.at?.iso8601, "by": line.by, "what": line.what]
    }
}
