import BSON
package import JobState
import Jobs

/// The state of jobs as JSON, with its keys in a fixed order.
package struct JobStatusJSON {
    private let jobs: [JobStatus]

    /// Wraps the state of jobs.
    package init(_ jobs: [JobStatus]) { self.jobs = jobs }

    /// One JSON object, indented, which ends with a line break.
    package var text: String { ReportValue.object(head + [("jobs", .array(jobs.map(job)))]).text() + "\n" }

    /// The same object on one line, as `status --watch -o json` writes it for each update.
    package var line: String {
        ReportValue.object([("record", .string("status"))] + head + [("jobs", .array(jobs.map(job)))]).line
    }

    /// The last line of `status --watch -o json`, with the number of jobs.
    package var result: String {
        ReportValue.object([("record", .string("result"))] + head + [("jobs", .integer(jobs.count))]).line
    }

    private var head: [(String, ReportValue)] {
        JSONReport.head("status")
    }

    private func job(_ job: JobStatus) -> ReportValue {
        .object([
            ("job", .string(job.job)),
            ("database", job.namespace.map { .string($0.database) } ?? .null),
            ("collection", job.namespace.map { .string($0.collection) } ?? .null),
            ("state", .string(job.state.rawValue.replacing(" ", with: "_"))),
            ("at", time(job.now)), ("begun", time(job.created)), ("checkpointed", time(job.checkpointed)),
            // Each chunk goes through all phases by itself, so a job as a whole is always in phase 1 of 1.
            ("phase", .integer(1)), ("phases", .integer(1)),
            ("walk", .integer(job.work.pass)),
            ("documents_passed", number(job.work.processed)), ("documents_estimated", number(job.work.estimate)),
            ("permille", number(job.share.map { Int($0 * 1_000) })),
            ("chunks", .integer(job.work.chunks)), ("changed", .integer(job.work.modified)),
            ("final", .bool(job.isFinal)),
            ("documents_per_second", number(job.work.rate.map { Int($0) })),
            ("seconds_left", number(job.secondsLeft.map { Int($0) })),
            ("waiting", .array(job.waiting.map(brake))),
            ("stopped_by", job.state == .stopped ? job.stopped.map { .string($0) } ?? .null : .null),
            ("paused", mark(job.control.paused)),
            ("deployed", mark(job.control.deployed)),
            ("holder", job.holder.map(holder) ?? .null),
            ("set_aside", .array(job.skipped.map(skipped))),
            ("pending_harm", .integer(job.pendingReservations)),
            ("pending_harm_is_provisional", .bool(job.areReservationsProvisional)),
            ("overrides", .object(job.control.limits.map { ($0.name, .string($0.value)) })),
            ("log", .array(job.log.map(line))),
        ])
    }

    private func brake(_ waitReason: WaitReason) -> ReportValue {
        .object([
            ("brake", .string(waitReason.reason.rawValue)), ("metric", .string(waitReason.metric)),
            ("value", .string(waitReason.value)),
            ("limit", .string(waitReason.limit)),
        ])
    }

    private func mark(_ mark: Control.Mark?) -> ReportValue {
        guard let mark else { return .null }
        return .object([
            ("by", .string(mark.by)), ("at", time(mark.at)), ("note", mark.note.map { .string($0) } ?? .null),
        ])
    }

    private func holder(_ holder: JobStatus.Holder) -> ReportValue {
        .object([
            ("host", .string(holder.host)), ("process", .integer(holder.process)), ("since", time(holder.since)),
        ])
    }

    private func skipped(_ code: String, _ count: Int) -> ReportValue {
        .object([("code", .string(code)), ("documents", .integer(count))])
    }

    private func line(_ line: JobStatus.LogLine) -> ReportValue {
        .object([("at", time(line.at)), ("by", .string(line.by)), ("what", .string(line.what))])
    }

    private func number(_ number: Int?) -> ReportValue { number.map { .integer($0) } ?? .null }

    private func time(_ time: ServerTime?) -> ReportValue { time.map { .string($0.iso8601) } ?? .null }
}
