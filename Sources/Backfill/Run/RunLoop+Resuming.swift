import BSON
import Mongo

/// Going on where an earlier run stopped: never over again by itself.
extension RunLoop {
    /// Refuses a checkpoint that cannot be one of this job's, unless the operator wants to start over.
    mutating func checkProgress() throws {
        if runner.options.restarts, progress.upper != nil {
            try renew(setting: StateStore.ending(isDone: false))
            (progress.last, progress.upper, progress.walked) = (nil, nil, 0)
        }
        guard let upper = progress.upper else { return }
        let isInside = try progress.last.map { try isInOrder($0, upper) } ?? true
        guard job.phases.indices.contains(progress.phase), isInside else {
            throw BackfillError(
                .checkpointUnreadable,
                "the checkpoint of job \"\(job.job.name)\" in database \"\(runner.options.stateDatabase)\" is damaged: it "
                    + "lies outside of the job; start over with --restart: only what still needs the job is changed")
        }
    }

    /// Whether one `_id` does not come after the other, by the collection's own order.
    private func isInOrder(_ first: BSONValue, _ second: BSONValue) throws -> Bool {
        let isBehind: BSONDocument = ["$expr": ["$gt": [["$literal": first], ["$literal": second]]]]
        return try runner.patience.bridging {
            var cursor = collection.find(isBehind, options: ["projection": ["_id": 1], "limit": 1])
            return try cursor.nextDocument() == nil
        }
    }
}
