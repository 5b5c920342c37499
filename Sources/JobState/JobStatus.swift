package import BSON
import Concurrency
import ServerSchema

/// The state of a job, read from the state database, for an operator on any machine.
package struct JobStatus: Sendable {
    /// The activity of a job.
    package enum State: String, Sendable {
        /// No run has begun the job.
        case notStarted = "not started"
        /// A runner holds the job's lease and writes.
        case running
        /// A runner holds the job's lease, and the throttle makes the runner wait.
        case waiting
        /// The job is paused, because an operator asked it to wait.
        case paused
        /// No runner holds the job's lease: the last run stopped, and the next run resumes where it stopped.
        case stopped
        /// The job has nothing left to do.
        case done
        case undoing
        /// An undo has stopped, and the next undo resumes where it stopped.
        case undoStopped = "undo stopped"
        case undone
        /// A run of the job has not ended, but either no runner holds the lease, or the runner has made no progress for
        /// too long.
        case stalled
    }

    /// The runner that has the lease.
    package struct Holder: Hashable, Sendable {
        package var host: String
        package var process: Int
        /// When the runner took the lease; `nil` if the lease has no valid time.
        package var since: ServerTime?
    }

    package struct LogLine: Hashable, Sendable {
        /// The time of the action, by the server's clock; `nil` if the stored line has no valid time.
        package var at: ServerTime?
        /// The operator who acted, as `user@host`.
        package var by: String
        package var what: String
    }

    /// The progress of a job: its passes, chunks and documents.
    package struct Work: Sendable {
        /// The number of the newest pass over the collection; 1 is the first pass, and 0 means that no pass was begun.
        package var pass = 0
        /// About how many documents the current pass has done; `nil` between passes.
        package var processed: Int?
        /// The number of documents that needed the job when the pass began, or an estimate; `nil` if neither is known.
        ///
        /// The estimate is the document count of the collection's metadata. It is used if the pass began without a
        /// count.
        package var estimate: Int?
        /// The number of chunks that all runs of the job finished.
        package var chunks = 0
        /// The number of documents that the finished chunks changed.
        package var modified = 0
        /// How many documents per second the current pass processed recently; `nil` if this is unknown.
        package var rate: Double?
        /// A text that names the limit which determines the run's speed, such as a throttle rule; `nil` while it is
        /// unknown.
        package var bound: String?
    }

    package var job: String
    /// The collection that the job writes; `nil` if the job's record names none.
    package var namespace: Namespace?
    package var state = State.notStarted
    /// The server's time when this status was read.
    package var now: ServerTime
    /// When the job's first run began; `nil` if that is unknown.
    package var created: ServerTime?
    package var work = Work()
    /// When the job's runner last made progress, for instance finished a chunk, began a pass, or stopped waiting; `nil`
    /// if that is unknown.
    package var checkpointed: ServerTime?
    /// When the job last showed that it is active; `nil` if that is unknown.
    ///
    /// While a runner holds the lease, this is ``checkpointed``. Otherwise, it is the time of the last checkpoint or of
    /// the last renewal of a lease.
    package var heard: ServerTime?
    /// The reasons why the job's runner waits; empty if it does not wait.
    package var waiting: [WaitReason] = []
    /// Why the job's last run stopped before its end; `nil` if the run did not stop early, or could not record the
    /// reason.
    package var stopped: String?
    /// The runner that holds the lease; `nil` if none does, or if the stored lease does not identify the runner.
    package var holder: Holder?
    package var skipped: [(code: String, count: Int)] = []
    /// The number of documents that the job made unsyncable, and that no run has found in the sync engine's ledger of
    /// unsynced documents yet.
    ///
    /// While a runner may be writing a chunk, the number includes all documents that this chunk may make unsyncable.
    package var pendingReservations = 0
    package var control = Control()
    /// The operators' actions, the oldest first.
    package var log: [LogLine] = []

    package init(job: String, now: ServerTime) { (self.job, self.now) = (job, now) }

    /// Whether the job's counts stay the same until the job runs again.
    ///
    /// Otherwise, ``pendingReservations`` may be too high, because a chunk might leave some of the reserved documents
    /// syncable.
    package var isFinal: Bool { [.done, .undone, .notStarted].contains(state) }

    /// The share of the work that is done, from 0 to 1; `nil` when it is unknown.
    package var share: Double? {
        if state == .done { return 1 }
        guard let processed = work.processed, let estimate = work.estimate, estimate > 0 else { return nil }
        return min(1, Double(processed) / Double(estimate))
    }

    /// The seconds until the current pass is done at the present rate.
    ///
    /// The result is `nil` if the job is in another state than running, waiting or paused. It is `nil` if the rate or
    /// the number of documents is unknown or 0. It is also `nil` until a thousandth of the documents is done, because
    /// the first documents say little about the others.
    package var secondsLeft: Double? {
        guard state == .running || state == .waiting || state == .paused, let share, share >= 0.001,
            let rate = work.rate,
            rate > 0, let processed = work.processed, let estimate = work.estimate
        else { return nil }
        return Double(max(0, estimate - processed)) / rate
    }

    /// Reads the status from a job's record in the collection `jobs` and its record in the collection `ranges`.
    /// - Parameter stalledAfter: how long a runner may make no progress before the job counts as stalled.
    package init(_ record: BSONDocument, range: BSONDocument?, now: ServerTime, stalledAfter: Duration) {
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
        work.bound = progress.bound
        checkpointed = ServerTime(range["active"])
        let recent = range["recent"]?.document?.values.first?.document
        work.rate = recent.flatMap { rate(since: $0) }
        waiting = (range["waiting"]?.document?.values ?? []).compactMap(\.document).map(WaitReason.init)
        stopped = range["stopped"]?.text
        let lease = range["lease"]?.document
        let isHeld = ServerTime(lease?["end"]).map { $0 > now } ?? false
        if isHeld, let runner = lease.flatMap(RunnerIdentity.init) {
            holder = Holder(host: runner.host, process: runner.process, since: ServerTime(lease?["start"]))
        }
        heard = isHeld ? checkpointed : ServerTime(range["updated"]) ?? checkpointed
        state = state(of: range["state"]?.text ?? "", isHeld: isHeld, stalledAfter: stalledAfter)
    }

    private func state(of stored: String, isHeld: Bool, stalledAfter: Duration) -> State {
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
            return heard.map { now.seconds(since: $0) > stalledAfter.seconds } ?? false ? .stalled : .running
        case "stopped": return control.paused != nil ? .paused : .stopped
        default: return control.paused != nil ? .paused : .notStarted
        }
    }

    /// Returns the documents per second between `mark`, which the runner stored earlier, and the job's last progress;
    /// `nil` if there was no progress after the mark, or if no pass is open.
    private func rate(since mark: BSONDocument) -> Double? {
        guard let start = ServerTime(mark["at"]), let end = checkpointed, end > start,
            let processed = work.processed
        else { return nil }
        return Double(max(0, processed - (mark["walked"]?.integer ?? 0))) / end.seconds(since: start)
    }
}
