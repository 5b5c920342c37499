import BSON
import Mongo

extension IDList {
    /// The list in parts that a command takes each.
    var chunks: [Chunk] { ids.commandSlices(count: 1_000).map(Chunk.init(listing:)) }
}

/// A run over a list of documents: every phase in fenced chunks of `_id`s, and no walk.
///
/// There is nothing to resume: a run that stopped or died is given the list again, and finds done what it has done.
extension RunLoop {
    /// The most `_id`s of a chunk.
    private static let mostListed = 2_000

    /// Runs over the list, or gives the reason to stop.
    mutating func run(only list: IDList) throws -> BackfillReport.Stop? {
        try lookBack()
        var stopped: BackfillReport.Stop?
        for index in job.phases.indices where stopped == nil {
            progress.phase = index
            let most = job.phases[index].earlierOfClient.isEmpty ? Self.mostListed : Self.mostCleared
            var rest = list.ids[...]
            stopped = try walk { _, documents in
                // Of long ones only as many as fit into a command.
                let ids = Array(rest.prefix(min(documents, most))).commandSlices().first
                rest = rest.dropFirst(ids?.count ?? 0)
                return ids.map { Piece(listing: $0) }
            }
        }
        if stopped != nil { saveCount() }
        // A list that was done says nothing of the rest of the collection: the job is what it was.
        try renew(setting: StateStore.ending(isDone: plan.wasDone))
        return stopped
    }
}

extension Survey.Result {
    /// The counts of two sets of documents together.
    static func sum(_ results: [Survey.Result]) -> Survey.Result {
        guard let first = results.first else { return Survey.Result(before: [], after: [], needing: 0, documents: 0) }
        return results.dropFirst().reduce(first) { $0.adding($1) }
    }

    private func adding(_ other: Survey.Result) -> Survey.Result {
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
