import BSON
import Jobs
package import Mongo
package import Steps

/// Compares the steps of one job with a server's, over generated documents and over some of the collection.
package struct JobProof: Sendable {
    /// The number of documents that were compared: generated ones, and those of the collection.
    package private(set) var compared = 0
    /// The first differences of each phase.
    package private(set) var differences: [PhaseComparison.Difference] = []

    /// The server's first error, if it computed nothing.
    package private(set) var failure: String?

    /// The most documents of the collection that are compared, and the size of all of them in bytes.
    private static let sample = (count: 1_000, bytes: 8 << 20)
    private static let batch = 100
    private static let limit = Duration.milliseconds(700)

    /// Compares the phases of a job that the client computes, for less than a second.
    /// - Parameter collection: the job's collection.
    /// - Throws: ``MongoError`` of the connection or of a missing privilege.
    package init(of job: CompiledJob, on collection: MongoCollection, seed: UInt64) throws(MongoError) {
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
                for phase in phases { add(try phase.compare(documents, on: collection)) }
            }
            rest = rest.dropFirst(Self.batch)
        } while ContinuousClock.now < end && (!rest.isEmpty || generated < Self.sample.count)
    }

    private mutating func add(_ outcome: PhaseComparison.Outcome) {
        compared += outcome.compared
        differences += outcome.differences.prefix(max(0, 3 - differences.count))
        failure = failure ?? outcome.failures.first
    }
}
