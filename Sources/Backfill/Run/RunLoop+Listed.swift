import BSON

extension IDList {
    /// The chunks of the list: few `_id`s each, since a document is compared with all of its chunk.
    var chunks: [Chunk] {
        stride(from: 0, to: ids.count, by: 200).map { Chunk(listing: Array(ids[$0..<min($0 + 200, ids.count)])) }
    }
}

extension Chunk {
    /// A list of `_id`s, which is not empty.
    init(listing ids: [BSONValue]) {
        self.init(after: nil, through: ids[ids.count - 1])
        listed = ids
    }
}

/// A run over a list of documents: every phase in fenced chunks of `_id`s, and no walk.
///
/// There is nothing to resume: a run that died is given the list again, and finds done what it has done.
extension RunLoop {
    /// Runs over the list, or gives the reason to stop.
    mutating func run(only list: IDList) throws -> BackfillReport.Stop? {
        try lookBack()
        for index in job.phases.indices {
            var queue = list.chunks
            while let chunk = queue.first {
                if let stop = try passBrakes() { return stop }
                switch try attempt(chunk, of: chunk.listed?.count ?? 1, job.phases[index]) {
                case .stopped(let stop): return stop
                case .written(let modified):
                    queue.removeFirst()
                    runner.events(.chunk(documents: chunk.listed?.count ?? 0, modified: modified))
                default:
                    // It took too long, or a document of it cannot be written: each half by itself.
                    guard let ids = chunk.listed, ids.count > 1 else { continue }
                    let half = ids.count / 2
                    let halves = [Chunk(listing: Array(ids[..<half])), Chunk(listing: Array(ids[half...]))]
                    queue.replaceSubrange(0..<1, with: halves)
                }
            }
        }
        // A list that was done says nothing of the rest of the collection: the job is what it was.
        try renew(setting: StateStore.ending(isDone: plan.wasDone))
        return nil
    }
}

extension Survey.Result {
    /// The counts of two sets of documents together.
    func adding(_ other: Survey.Result) -> Survey.Result {
        Survey.Result(
            before: zip(before, other.before).map { $0.adding($1) },
            after: zip(after, other.after).map { $0.adding($1) },
            needing: needing + other.needing, documents: documents + other.documents)
    }
}

extension BackfillReport.StepCount {
    fileprivate func adding(_ other: Self) -> Self {
        var sum = self
        sum.needing += other.needing
        for left in other.leftAlone {
            if let index = sum.leftAlone.firstIndex(where: { $0.reason == left.reason }) {
                sum.leftAlone[index].count += left.count
                let room = max(0, Survey.samples - sum.leftAlone[index].samples.count)
                sum.leftAlone[index].samples += left.samples.prefix(room)
            } else {
                sum.leftAlone.append(left)
            }
        }
        return sum
    }
}

extension BackfillError {
    /// A walk is open, which a list would come in the way of.
    static func unfinished(_ job: String) -> BackfillError {
        BackfillError(
            .notDone,
            "job \"\(job)\" is half done, and its next run comes to these documents by itself: end it first, "
                + "without --ids")
    }
}
