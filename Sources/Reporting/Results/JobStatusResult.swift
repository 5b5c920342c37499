import BSON
package import JobState
import Jobs

/// The state of jobs, in every output format: a table with a row per job, or the details of one job.
package struct JobStatusResult: Reportable {
    let jobs: [JobStatus]
    private let isDetailed: Bool

    /// Wraps the states of jobs.
    /// - Parameter isDetailed: whether to show all details of the first job; otherwise each job has one row.
    package init(_ jobs: [JobStatus], isDetailed: Bool) { (self.jobs, self.isDetailed) = (jobs, isDetailed) }

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
            "waiting": job.waiting.map(\.json),
            "stopped_by": job.state == .stopped ? job.stopped : nil, "paused": job.control.paused.map(mark),
            "deployed": job.control.deployed.map(mark), "holder": job.holder.map(holder),
            "set_aside": job.skipped.map(skipped), "pending_harm": job.pendingReservations,
            "pending_harm_is_provisional": !job.isFinal,
            "overrides": ReportValue.object(job.control.limits.map { ($0.name, .string($0.value)) }),
            "log": job.log.map(line),
        ]
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

    package var report: Report {
        if isDetailed, let job = jobs.first { return job.report }
        let counts = Dictionary(grouping: jobs, by: \.state).mapValues(\.count)
        let states = counts.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
        var report = Report(
            command: "status", title: "The jobs",
            headline: jobs.isEmpty
                ? "No job was started."
                : jobs.count.counted("job") + ": "
                    + states.map { "\($0.value.grouped) \($0.key.rawValue)" }.joined(separator: ", ") + ".",
            level: jobs.map(\.state.level).max() ?? .notice)
        let columns: [Report.Column] = [
            "job", "state", .number("done"), .number("changed"),
            Report.Column(title: "a second", isNumber: true, omission: 1), .number("left"),
            Report.Column(title: "held by", omission: 2), "reason",
        ]
        report.sections = [Report.Section(name: "Jobs", columns: columns, findings: jobs.map(\.finding))]
            .filter { !$0.findings.isEmpty }
        return report
    }
}

extension JobStatus {
    fileprivate var finding: Report.Finding {
        let cells = [
            share.map(Self.percent) ?? "-", work.modified.grouped, rateShown.map { Int($0).grouped } ?? "-",
            secondsLeft.map(Self.duration) ?? "-", holder.map(Self.name) ?? "-", reason,
        ]
        return Report.Finding(
            level: state.level, isFailure: state == .stalled, code: state.rawValue, subject: job,
            message: reason.isEmpty ? state.rawValue : "\(state.rawValue), \(reason)",
            cells: [.code(job), Report.Cell(state.rawValue, level: state.level)]
                + cells.map { Report.Cell($0) })
    }

    fileprivate var report: Report {
        let title = "job \(job)" + (namespace.map { " on \($0)" } ?? "")
        let silence = state == .stalled ? heard.map { now.seconds(since: $0) } : nil
        var report = Report(
            command: "status", title: title,
            headline: "\(title): \(state.rawValue)"
                + (silence.map { ", no sign of its runner for \(Self.duration($0))" } ?? ""),
            level: state.level)
        report.lines = progress + waiting.map { "waiting: \($0)" } + circumstances
        report.tables = [
            Report.Table(
                title: "Log", columns: ["when", "by", "what"],
                rows: log.map { line in
                    [line.at.map { "\($0)" } ?? "?", line.by, line.what].map { Report.Cell($0) }
                })
        ]
        return report
    }

    private var circumstances: [String] {
        var lines: [String] = []
        if let stopped, state == .stopped { lines.append("stopped by \(stopped)") }
        if let paused = control.paused { lines.append("paused \(Self.mark(paused))") }
        if let deployed = control.deployed {
            let how = control.isDeployVerified ? "verified" : "not verified"
            lines.append("the next schema is recorded as the active one (\(how)) \(Self.mark(deployed))")
        }
        if let holder {
            lines.append("held by \(Self.name(holder))" + (holder.since.map { " since \($0)" } ?? ""))
        }
        if !skipped.isEmpty {
            let parts = skipped.map { "\($0.count.grouped) with code \($0.code)" }
            lines.append("skipped: \(skippedCount.documents): \(parts.joined(separator: ", "))")
        }
        if pendingReservations > 0 {
            lines.append(
                !isFinal
                    ? "reserves room for \(pendingReservations.documents) that it made or may make unsyncable and "
                        + "that are not in the ledger yet (provisional until the run ends)"
                    : "made \(pendingReservations.documents) unsyncable that are not in the ledger yet")
        }
        if !control.limits.isEmpty {
            let limits = control.limits.map { "\($0.name)=\($0.value)" }
            lines.append("limits set by job tune: \(limits.joined(separator: " "))")
        }
        return lines
    }

    private var progress: [String] {
        guard state != .notStarted else { return [] }
        var parts: [String] = []
        if let processed = work.processed {
            let of = work.estimate.map { " of about \($0.grouped)" } ?? ""
            let share = share.map { "\(Self.percent($0)), " } ?? ""
            parts.append("\(share)\(processed.grouped)\(of) documents")
        }
        parts.append(
            "\(work.chunks.counted("chunk")), \(work.modified.grouped) changed"
                + (isFinal ? "" : " so far (provisional)"))
        var lines = [parts.joined(separator: " in ")]
        if work.pass > 1 {
            lines.append("pass \(work.pass): documents that arrived or changed during an earlier pass")
        }
        if let rate = rateShown {
            lines.append(
                "\(Int(rate).grouped) documents per second"
                    + (secondsLeft.map { ", about \(Self.duration($0)) left" } ?? ""))
        }
        if let boundShown { lines.append("speed limited by \(boundShown)") }
        return lines
    }

    /// The limit that decides how fast a running, waiting or paused job is; `nil` in other states.
    var boundShown: String? { [.running, .waiting, .paused].contains(state) ? work.bound : nil }

    private var reason: String {
        if let paused = control.paused, state == .paused { return "paused \(Self.mark(paused))" }
        if let reason = waiting.first, state == .waiting { return "\(reason)" }
        if let stopped, state == .stopped { return "stopped by \(stopped)" }
        return skippedCount > 0 ? "\(skippedCount.documents) skipped" : ""
    }

    private var skippedCount: Int { skipped.reduce(0) { $0 + $1.count } }

    /// The documents per second; `nil` in other states, because the rate of the last run would mislead the reader.
    private var rateShown: Double? { [.running, .waiting, .paused].contains(state) ? work.rate : nil }

    private static func mark(_ mark: Control.Mark) -> String {
        "by \(mark.by)" + (mark.at.map { " since \($0)" } ?? "") + (mark.note.map { " (\($0))" } ?? "")
    }

    private static func name(_ holder: Holder) -> String { "process \(holder.process) on host \(holder.host)" }

    private static func percent(_ share: Double) -> String { "\(Int(share * 100))%" }

    private static func duration(_ seconds: Double) -> String {
        let seconds = max(1, Int(seconds))
        return seconds < 60 ? "\(seconds) s" : seconds < 5_400 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
}

extension JobStatus.State {
    fileprivate var level: Report.Level {
        switch self {
        case .running, .done, .undoing, .undone: .good
        case .waiting, .paused, .stopped, .undoStopped: .warning
        case .stalled: .error
        case .notStarted: .notice
        }
    }
}
