import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps
import Synchronization

/// The pass of a dry run over all documents, on several threads, if the client alone cannot evaluate the job.
///
/// Each thread takes one range of `_id`s after another. A range has about the size of the first chunk of a run.
final class PreviewPass: Sendable {
    private struct State {
        /// The last `_id` of the newest range that a thread took; `nil` before the first range is taken.
        var last: BSONValue?
        var taken = 0
        var isOver = false
    }

    private let runner: BackfillRunner
    private let upper: BSONValue
    private let size: Int
    private let state = Mutex(State())

    /// Prepares a pass over all documents up to and including the `_id` `upper`.
    init(_ runner: BackfillRunner, upper: BSONValue, averageSize: Int?) {
        (self.runner, self.upper) = (runner, upper)
        size = ChunkSize(runner.job.job.limits, averageSize: averageSize).documents
    }

    /// Reads until all documents are counted, or the runner is asked to stop.
    func run(in concurrency: Int, on pool: ClientPool) throws -> PreviewCount {
        let previews = (0..<concurrency).map { _ in
            BackgroundTask(on: pool) { [self] client in
                do { return try preview(client.collection(runner.job.job.namespace)) } catch {
                    // If one thread fails, all threads stop.
                    state.withLock { $0.isOver = true }
                    throw error
                }
            }
        }
        var total = PreviewCount(job: runner.job)
        for count in previews.map({ $0.end() }) { total.add(try count.get()) }
        return total
    }

    private func preview(_ collection: MongoCollection) throws -> PreviewCount {
        var total = PreviewCount(job: runner.job)
        while !runner.stop.isRaised, let (chunk, number) = try take(collection) {
            var after = chunk.after
            var part = size
            // A document that a run would skip makes the read of its range fail. The document is then found by halving
            // the range.
            while !runner.stop.isRaised {
                let rest = IDSpan(after: after, through: chunk.through)
                do {
                    let next = part < size ? try cut(rest, part, collection) : rest
                    // After a temporary failure, the range is read again from its start into a new count, so that no
                    // document counts twice.
                    let (count, documents) = try runner.retry.run {
                        var count = PreviewCount(job: runner.job)
                        let preview = Preview(
                            .span(next), through: runner.job.whole, in: runner.job.context(collection),
                            onlyNeeding: false)
                        let documents = try count.read(preview, number: number)
                        count.endChunk()
                        return (count, documents)
                    }
                    total.add(count)
                    runner.events(.chunk(documents: documents, modified: count.modified))
                    after = next.through
                    part = min(size, part * 2)
                } catch let error as MongoError where error.isOfOneDocument {
                    if part == 1 {
                        let alone = try cut(rest, 1, collection)
                        total.failures.append(Failure(alone.through, error, phase: 0))
                        after = alone.through
                    }
                    part = max(1, part / 2)
                }
                if after.map({ $0.hasSameBytes(as: chunk.through) }) ?? false { break }
            }
        }
        return total
    }

    private func take(_ collection: MongoCollection) throws -> (IDSpan, Int)? {
        try state.withLock { state in
            guard !state.isOver else { return nil }
            let all = IDSpan(after: state.last, through: upper)
            let chunk = try cut(all, size, collection)
            state.last = chunk.through
            state.taken += 1
            state.isOver = upper.hasSameBytes(as: chunk.through)
            return (chunk, state.taken)
        }
    }

    /// Returns the collection's greatest `_id`; `nil` when it is empty.
    static func greatestID(in collection: MongoCollection) throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            options: ["projection": ["_id": 1], "sort": ["_id": -1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// Returns the part of the range with about `documents` documents from its start, by a scan of the index on `_id`
    /// that reads no document.
    ///
    /// The cursor options `min` and `max` limit the scan of the index across all BSON types. `min` includes its bound,
    /// and `max` does not.
    private func cut(_ span: IDSpan, _ documents: Int, _ collection: MongoCollection) throws -> IDSpan {
        // No `_id` is less than MinKey, and the server refuses bounds with nothing between them.
        guard span.through != .minKey else { return span }
        var options = BSONBuilder()
        options.append("projection", ["_id": 1])
        options.append("sort", ["_id": 1])
        options.append("hint", ["_id": 1])
        if let after = span.after { options.append("min", ["_id": after]) }
        options.append("max", ["_id": span.through])
        options.append("skip", .integer(span.after == nil ? documents - 1 : documents))
        options.append("limit", 1)
        // The read is sent as a command, because the driver's cursors refuse a bound with a field that has no name.
        let command = options.finish()
        let last = try runner.retry.run { try collection.findBatch(command).first?["_id"] }
        return IDSpan(after: span.after, through: last ?? span.through)
    }
}
