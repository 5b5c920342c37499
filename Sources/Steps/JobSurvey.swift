import BSON
import Jobs
package import Mongo
import ServerSchema

/// The counts of the documents that a job's steps would change or skip, as a dry run shows them.
///
/// The survey writes nothing, and needs no state database.
package struct JobSurvey: Sendable {
    package let documents: Int
    /// The number of documents that need at least one step.
    package let needing: Int
    /// The number of documents that a step skips for a reason on which the operator has to act; each document counts
    /// once.
    ///
    /// The number is a lower bound if a client-side step skips documents.
    package let stuck: Int
    package let steps: [StepCount]

    /// Counts the documents that the steps of a job would change or skip.
    /// - Throws: ``RunError`` when the job's collection does not exist, or when a collection cannot be used;
    ///   ``MongoError``.
    package init(of job: CompiledJob, on client: borrowing Client) throws {
        _ = try Target.find(job.job.namespace, on: client)
        let collection = client.collection(job.job.namespace)
        let prepared = try job.located(in: collection).compiled(for: client.hello().maxWireVersion).prepared(
            on: collection)
        let result = try Survey(job: prepared, collection: collection, surveysAfter: false).run()
        (documents, needing) = (result.documents, result.needing)
        var steps: [StepCount] = []
        var next = 0
        for located in prepared.job.steps {
            let parts = next..<next + located.step.kind.parts.count
            next = parts.upperBound
            let counts = result.before[parts]
            var count = counts[parts.lowerBound]
            count.step = located.step.description
            count.needing = counts.map(\.needing).max() ?? 0
            count.skipped = counts.flatMap(\.skipped).filter { $0.count > 0 }
            steps.append(count)
        }
        self.steps = steps
        let left = steps.flatMap(\.skipped).filter { $0.isTrouble && $0.count > 0 }
        // The server cannot evaluate client-side steps, so `Self.stuck` misses documents that only the client can find.
        // Each count in `left` is a lower bound as well, so the greatest of these numbers is used.
        let counted = left.count > 1 ? try Self.stuck(prepared, in: collection) : 0
        stuck = max(counted, left.map(\.count).max() ?? 0)
    }

    /// Returns the number of documents that a step skips for a reason that the server can find, and on which the
    /// operator has to act.
    private static func stuck(_ job: CompiledJob, in collection: borrowing MongoCollection) throws(MongoError) -> Int {
        let mark = "__shipshape_stuck"
        let altered = "__shipshape_altered"
        let known = job.steps.map { $0.knowing(AlteredDocument(knownAt: altered)) }
        let first: BSONDocument = ["$set": .object(BSONDocument([(altered, job.steps.alteredAlthoughNeeded.bson)]))]
        let pipeline =
            [first]
            + known.flatMap { step -> [BSONDocument] in
                let reasons = step.reasons.filter(\.reason.isTrouble).map(\.when)
                let isStuck = Expression.any([Expression(.string("$\(mark)")) == .constant(true)] + reasons)
                return [["$set": [mark: isStuck.bson]]] + (step.client == nil ? [step.stage] : [])
            }
        var cursor = collection.aggregate(
            pipeline + [["$match": [mark: true]], ["$count": "n"]], options: Survey.options)
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }
}
