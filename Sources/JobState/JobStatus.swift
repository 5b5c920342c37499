package import BSON
import Concurrency
import ServerSchema

/// How a job is, as the state database tells it: for an operator on any machine.
package struct JobStatus: Sendable {
    /// What a job is doing.
    package enum State: String, Sendable {
        /// No run has begun it.
        case notStarted = "not started"
        /// A runner holds it and writes.
        case running
        /// A runner holds it and the throttle holds the runner.
        case waiting
        /// An operator asked it to wait.
        case paused
        /// No runner holds it: the last one stopped, and the next goes on from there.
        case stopped
        /// Nothing is left to do.
        case done
        /// What it did is being taken back.
        case undoing
        /// Taking back what it did has stopped, and the next undo goes on from there.
        case undoStopped = "undo stopped"
        /// What it did was taken back.
        case undone
        /// It should be running, and nothing has been heard of its runner for too long.
        case stalled
    }

    /// The runner that has the lease.
    package struct Holder: Hashable, Sendable {
        /// Its machine's name.
        package var host: String
        /// Its process id.
        package var process: Int
        /// Since when it has the job.
        package var since: ServerTime?
    }

    /// A line of the job's log.
    package struct LogLine: Hashable, Sendable {
        /// When, by the server's clock.
        package var at: ServerTime?
        /// Who.
        package var by: String
        /// What was done.
        package var what: String
    }

    /// How far a job is.
    package struct Work: Sendable {
        /// Which pass over the collection it is, from 1 on.
        package var pass = 0
        /// Documents that this pass has done.
        package var processed: Int?
        /// Documents that needed the job at the pass's beginning; where nobody counted them, those of the collection's
        /// metadata; `nil` when they cannot be told.
        package var estimate: Int?
        /// Chunks of all runs.
        package var chunks = 0
        /// Documents that they changed.
        package var modified = 0
        /// Documents per second in the last minute of work.
        package var rate: Double?
    }

    /// The job's name.
    package var job: String
    /// The collection that it writes.
    package var namespace: Namespace?
    /// What it is doing.
    package var state = State.notStarted
    /// The server's time when this was read.
    package var now: ServerTime
    /// When its first run began it.
    package var created: ServerTime?
    /// How far it is.
    package var work = Work()
    /// When its runner last got on: a chunk done, a pass begun, a wait ended.
    package var checkpointed: ServerTime?
    /// When anything was last heard of its runner.
    package var heard: ServerTime?
    /// Why it waits.
    package var waiting: [Hold] = []
    /// Why its last run stopped; `nil` for one that did not, and where nobody could record it.
    package var stopped: String?
    /// Who has it.
    package var holder: Holder?
    /// Documents that were skipped, by the code of what went wrong.
    package var skipped: [(code: String, count: Int)] = []
    /// Documents that it made unsyncable and that the ledger does not show yet; while a chunk may be under way, those too
    /// that it may make so.
    package var pendingHarm = 0
    /// What operators asked of it.
    package var control = Control()
    /// Who asked for what, the oldest first.
    package var log: [LogLine] = []

    /// A job of which nothing is known yet.
    package init(job: String, now: ServerTime) { (self.job, self.now) = (job, now) }
}

extension JobStatus {
    /// Whether ``pendingHarm`` counts documents that a chunk has room for, and that may fit after all.
    package var isHarmProvisional: Bool { !isFinal }

    /// Whether the figures stay as they are, unless the job is run again; else they are provisional.
    package var isFinal: Bool { [.done, .undone, .notStarted].contains(state) }

    /// How much of the work is done, from 0 to 1; `nil` when it cannot be told.
    package var share: Double? {
        if state == .done { return 1 }
        guard let processed = work.processed, let estimate = work.estimate, estimate > 0 else { return nil }
        return min(1, Double(processed) / Double(estimate))
    }

    /// Seconds until it is done at the present rate; `nil` below a thousandth, where the first documents say little about
    /// the rest, and while nothing moves.
    package var secondsLeft: Double? {
        guard state == .running || state == .waiting || state == .paused, let share, share >= 0.001,
            let rate = work.rate,
            rate > 0, let processed = work.processed, let estimate = work.estimate
        else { return nil }
        return Double(max(0, estimate - processed)) / rate
    }
}

extension JobStatus {
    /// Reads the record of a job and the range of its runner.
    /// - Parameter patience: how long a job may be silent before it is stalled.
    package init(_ record: BSONDocument, range: BSONDocument?, now: ServerTime, patience: Duration) {
        self.init(job: record["_id"]?.text ?? "", now: now)
        namespace = record["ns"]?.text.flatMap { Namespace($0) }
        created = ServerTime(record["created"])
        control = Control(record)
        log = (record["log"]?.document?.values ?? []).compactMap(\.document).map {
            LogLine(at: ServerTime($0["at"]), by: $0["by"]?.text ?? "unknown", what: $0["what"]?.text ?? "")
        }
        guard let range else { return }
        let progress = Progress(range)
        work.pass = progress.pass
        work.chunks = progress.chunks
        work.modified = progress.modified
        work.processed = progress.isOpen ? progress.processed : nil
        work.estimate = range["due"]?.integer
        checkpointed = ServerTime(range["active"])
        let recent = range["recent"]?.document?.values.first?.document
        work.rate = recent.flatMap { rate(since: $0) }
        waiting = (range["waiting"]?.document?.values ?? []).compactMap(\.document).map(Hold.init)
        stopped = range["stopped"]?.text
        let lease = range["lease"]?.document
        let isHeld = ServerTime(lease?["end"]).map { $0 > now } ?? false
        if isHeld, let runner = lease.flatMap(RunnerIdentity.init) {
            holder = Holder(host: runner.host, process: runner.process, since: ServerTime(lease?["start"]))
        }
        heard = isHeld ? checkpointed : ServerTime(range["updated"]) ?? checkpointed
        state = state(of: range["state"]?.text ?? "", isHeld: isHeld, patience: patience)
    }

    private func state(of stored: String, isHeld: Bool, patience: Duration) -> State {
        switch stored {
        case "done": return .done
        case "undone": return .undone
        case "undoing":
            if control.paused != nil { return .paused }
            guard isHeld else { return .undoStopped }
            return waiting.isEmpty ? .undoing : .waiting
        case "running":
            if control.paused != nil { return .paused }
            guard isHeld else { return .stalled }
            if !waiting.isEmpty { return .waiting }
            return heard.map { now.seconds(since: $0) > patience.seconds } ?? false ? .stalled : .running
        case "stopped": return control.paused != nil ? .paused : .stopped
        default: return control.paused != nil ? .paused : .notStarted
        }
    }

    /// Documents per second since a mark that the runner keeps, a minute old at most.
    private func rate(since mark: BSONDocument) -> Double? {
        guard let start = ServerTime(mark["at"]), let end = checkpointed, end > start,
            let processed = work.processed
        else { return nil }
        return Double(max(0, processed - (mark["walked"]?.integer ?? 0))) / end.seconds(since: start)
    }
}
