package import BSON
import Concurrency
import ServerSchema

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
        pass = progress.pass
        chunks = progress.chunks
        modified = progress.modified
        processed = progress.isOpen ? progress.processed : nil
        estimate = range["due"]?.integer
        checkpointed = ServerTime(range["active"])
        let recent = range["recent"]?.document?.values.first?.document
        rate = recent.flatMap { rate(since: $0) }
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
        guard let start = ServerTime(mark["at"]), let end = checkpointed, end > start, let processed else { return nil }
        return Double(max(0, processed - (mark["walked"]?.integer ?? 0))) / end.seconds(since: start)
    }
}
