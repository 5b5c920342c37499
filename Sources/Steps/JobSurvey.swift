package import BSON
package import Jobs
package import Mongo
import ServerSchema

/// The counts of the documents that a job's steps would change or skip, as a dry run shows them.
///
/// The survey writes nothing, and needs no state database.
package struct JobSurvey: Sendable {
    /// The number of documents in the collection.
    package let documents: Int
    /// The number of documents that need at least one step.
    package let needing: Int
    /// The number of documents that a step skips for a reason on which the operator has to act; each document counts
    /// once.
    ///
    /// The number is a lower bound if a client-side step skips documents.
    package let stuck: Int
    /// The counts of each step of the job.
    package let steps: [StepCount]
    /// For each step, the documents whose values it cannot convert, by the problem with the value.
    ///
    /// The list is empty for a step that converts nothing, or that can convert all values.
    package let unconverted: [[Unconverted]]

    /// The documents that a conversion skips because of one kind of problem.
    package struct Unconverted: Sendable {
        /// The problem with the value.
        package let kind: ConversionLoss
        /// The number of documents that the step skips because of the problem.
        package let count: Int
        /// The `_id`s and values of a few of the documents that the step skips because of the problem.
        ///
        /// `value` is `nil` if the step converts values inside of arrays or dictionaries.
        package let samples: [(id: BSONValue, value: BSONValue?)]
    }

    /// Counts the documents that the steps of a job would change or skip.
    /// - Throws: ``RunError`` when the job's collection does not exist, or when a collection cannot be used;
    ///   ``MongoError``.
    package init(of job: CompiledJob, on client: borrowing Client) throws {
        _ = try Target.find(job.job.namespace, on: client)
        let collection = client.collection(job.job.namespace)
        let prepared = try job.compiled(for: client.hello().maxWireVersion).prepared(on: collection)
        let result = try Survey(job: prepared, collection: collection, surveysAfter: false).run()
        (documents, needing) = (result.documents, result.needing)
        var (steps, unconverted): ([StepCount], [[Unconverted]]) = ([], [])
        var next = 0
        for located in job.job.steps {
            let parts = next..<next + located.step.kind.parts.count
            next = parts.upperBound
            let counts = result.before[parts]
            var count = counts[parts.lowerBound]
            count.step = located.step.description
            count.needing = counts.map(\.needing).max() ?? 0
            count.skipped = counts.flatMap(\.skipped).filter { $0.count > 0 }
            steps.append(count)
            let isLeft = count.skipped.contains { $0.reason == CompiledStep.Reason.notConvertible.rawValue }
            guard isLeft else {
                unconverted.append([])
                continue
            }
            let stages = prepared.steps[..<parts.lowerBound].filter { $0.client == nil }.map(\.stage)
            unconverted.append(try Self.unconverted(located.step.kind, after: stages, in: collection))
        }
        (self.steps, self.unconverted) = (steps, unconverted)
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

    private static func unconverted(
        _ step: any StepKind, after stages: [BSONDocument], in collection: borrowing MongoCollection
    ) throws -> [Unconverted] {
        var found: [Unconverted] = []
        for (kind, when) in step.losses {
            let match = stages + [["$match": .object(when.filter)]]
            var cursor = collection.aggregate(match + [["$count": "n"]], options: Survey.options)
            guard let count = try cursor.nextDocument()?["n"]?.integer, count > 0 else { continue }
            let field = step.source ?? step.target
            let shown: BSONDocument =
                field.leadsIntoElements ? ["_id": 1] : ["_id": 1, "value": Expression.field(field).bson]
            let documents = try collection.aggregate(
                match + [["$limit": .integer(Survey.samples)], ["$project": .object(shown)]], options: Survey.options
            ).documents()
            let samples = documents.compactMap { document in document["_id"].map { ($0, document["value"]) } }
            found.append(Unconverted(kind: kind, count: count, samples: samples))
        }
        return found
    }
}
