import BSON
package import JobState
import Jobs
import TextTable

/// The state of jobs as text: a table with a line per job, or the details of each job.
package struct JobStatusText {
    private let jobs: [JobStatus]
    private let isDetailed: Bool
    private let width: Int?
    private let paint: Paint

    /// - Parameters:
    ///   - isDetailed: Whether to show all details of each job; otherwise each job has one line.
    ///   - width: The width of the terminal in columns; `nil` for no limit.
    ///   - isColored: Whether to use a terminal's colours.
    package init(_ jobs: [JobStatus], isDetailed: Bool, width: Int? = nil, isColored: Bool = false) {
        self.jobs = jobs
        self.isDetailed = isDetailed
        self.width = width
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    package var text: String {
        if isDetailed { return jobs.map { details($0).asLines }.joined(separator: "\n\n") + "\n" }
        guard !jobs.isEmpty else { return "No job was started.\n" }
        return table.asLines + "\n"
    }

    private var table: [String] {
        let numbers: Set = ["done", "changed", "per second", "left"]
        let table = Report.Table(
            title: "Jobs",
            columns: ["job", "state", "done", "changed", "per second", "left", "held by", "reason"].map {
                Report.Column(title: $0, isNumber: numbers.contains($0))
            },
            rows: jobs.map { job in
                [
                    job.job, job.state.rawValue, job.share.map(Self.percent) ?? "-", job.work.modified.grouped,
                    job.rateShown.map { Int($0).grouped } ?? "-", job.secondsLeft.map(Self.duration) ?? "-",
                    job.holder.map(Self.name) ?? "-", Self.reason(job),
                ].map { Report.Cell($0) }
            })
        return TextTable.lines(of: table, width: width, indent: 0)
    }

    private func details(_ job: JobStatus) -> [String] {
        let place = job.namespace.map { " on \($0)" } ?? ""
        var lines = ["\(paint.bold("job \(job.job)\(place)")): \(state(job))"]
        lines += progress(job)
        lines += job.waiting.map { "  waiting: \($0)" }
        if let stopped = job.stopped, job.state == .stopped { lines.append("  stopped by \(stopped.printable)") }
        if let paused = job.control.paused { lines.append("  paused \(Self.mark(paused))") }
        if let deployed = job.control.deployed {
            let how = job.control.isDeployVerified ? "verified" : "not verified"
            lines.append("  the next schema is recorded as the active one (\(how)) \(Self.mark(deployed))")
        }
        if let holder = job.holder {
            lines.append("  held by \(Self.name(holder))" + (holder.since.map { " since \($0)" } ?? ""))
        }
        if !job.skipped.isEmpty {
            let parts = job.skipped.map { "\($0.count.grouped) with code \($0.code)" }
            lines.append(
                "  skipped: \(job.skipped.reduce(0) { $0 + $1.count }.documents): \(parts.joined(separator: ", "))")
        }
        if job.pendingReservations > 0 {
            lines.append(
                job.areReservationsProvisional
                    ? "  reserves room for \(job.pendingReservations.documents) that it made or may make unsyncable "
                        + "and that are not in the ledger yet (provisional until the run ends)"
                    : "  made \(job.pendingReservations.documents) unsyncable that are not in the ledger yet")
        }
        if !job.control.limits.isEmpty {
            let limits = job.control.limits.map { "\($0.name)=\($0.value)" }
            lines.append("  limits set by tune: \(limits.joined(separator: " "))")
        }
        if !job.log.isEmpty { lines.append("  log:") }
        lines += job.log.map { "    \($0.at.map { "\($0)" } ?? "?") \($0.by.printable): \($0.what.printable)" }
        return lines
    }

    private func state(_ job: JobStatus) -> String {
        let name = job.state.rawValue
        switch job.state {
        case .running, .done, .undoing, .undone: return paint.green(name)
        case .waiting, .paused, .stopped, .undoStopped: return paint.yellow(name)
        case .stalled:
            let silence = job.heard.map { ", no sign of its runner for \(Self.duration(job.now.seconds(since: $0)))" }
            return paint.red(name) + (silence ?? "")
        case .notStarted: return name
        }
    }

    private func progress(_ job: JobStatus) -> [String] {
        guard job.state != .notStarted else { return [] }
        var parts: [String] = []
        if let processed = job.work.processed {
            let of = job.work.estimate.map { " of about \($0.grouped)" } ?? ""
            let share = job.share.map { "\(Self.percent($0)), " } ?? ""
            parts.append("\(share)\(processed.grouped)\(of) documents")
        }
        parts.append(
            "\(job.work.chunks.counted("chunk")), \(job.work.modified.grouped) changed"
                + (job.isFinal ? "" : " so far (provisional)"))
        var lines = ["  " + parts.joined(separator: " in ")]
        if job.work.pass > 1 {
            lines.append("  pass \(job.work.pass): documents that arrived or changed during an earlier pass")
        }
        if let rate = job.rateShown {
            lines.append(
                "  \(Int(rate).grouped) documents per second"
                    + (job.secondsLeft.map { ", about \(Self.duration($0)) left" } ?? ""))
        }
        return lines
    }

    private static func reason(_ job: JobStatus) -> String {
        if let paused = job.control.paused, job.state == .paused { return "paused \(mark(paused))" }
        if let reason = job.waiting.first, job.state == .waiting { return "\(reason)" }
        if let stopped = job.stopped, job.state == .stopped { return "stopped by \(stopped)" }
        let skipped = job.skipped.reduce(0) { $0 + $1.count }
        return skipped > 0 ? "\(skipped.documents) skipped" : ""
    }

    private static func mark(_ mark: Control.Mark) -> String {
        "by \(mark.by.printable)" + (mark.at.map { " since \($0)" } ?? "")
            + (mark.note.map { " (\($0.printable))" } ?? "")
    }

    private static func name(_ holder: JobStatus.Holder) -> String {
        "process \(holder.process) on host \(holder.host.printable)"
    }

    private static func percent(_ share: Double) -> String { "\(Int(share * 100))%" }

    /// Returns a duration such as `40 s`, `12 min` or `5 h`.
    private static func duration(_ seconds: Double) -> String {
        let seconds = max(1, Int(seconds))
        return seconds < 60 ? "\(seconds) s" : seconds < 5_400 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
}

extension JobStatus {
    /// The documents per second of a job that is running, waiting or paused; `nil` in other states, where it would
    /// mislead.
    fileprivate var rateShown: Double? { [.running, .waiting, .paused].contains(state) ? work.rate : nil }
}
