import BSON
import Jobs
package import Mongo
package import Steps

extension PhaseComparison.Outcome {
    private static let sample = (count: 1_000, bytes: 8 << 20)
    private static let batch = 100
    private static let limit = Duration.milliseconds(700)

    /// Compares the phases of a job that the client computes, for less than a second: over generated documents, and
    /// over some of the collection.
    /// - Throws: ``MongoError`` of the connection or of a missing privilege.
    package init(of job: CompiledJob, on collection: MongoCollection, seed: UInt64) throws(MongoError) {
        self.init()
        let end = ContinuousClock.now + Self.limit
        let phases = (job.phases + (job.refreshing.map { [$0] } ?? [])).compactMap(PhaseComparison.init)
        guard !phases.isEmpty else { return }
        var random = Randomness(seed: seed)
        let paths = job.steps.flatMap { step in
            step.step.kind.touched + step.step.sources + step.step.readsInside
        }
        var generated = 0
        var sampled: [BSONDocument] = []
        var size = 0
        var cursor = collection.aggregate([["$sample": ["size": .integer(Self.sample.count)]]])
        while size < Self.sample.bytes, let view = try cursor.next() {
            size += view.byteCount
            sampled.append(BSONDocument(copying: view))
        }
        var rest = sampled[...]
        // Generated and stored documents take turns, so that the time ends neither of them.
        repeat {
            let documents = (generated..<generated + Self.batch).map {
                StepCases.document($0, at: paths, &random)
            }
            generated += Self.batch
            for documents in [documents, Array(rest.prefix(Self.batch))] {
                for phase in phases { add(try phase.compare(documents, on: collection, until: end)) }
            }
            differences = Array(differences.prefix(3))
            rest = rest.dropFirst(Self.batch)
        } while ContinuousClock.now < end && (!rest.isEmpty || generated < Self.sample.count)
    }
}
