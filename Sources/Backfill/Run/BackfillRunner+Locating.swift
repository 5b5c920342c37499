import BSON
import JobState
import Jobs
import Mongo

extension BackfillRunner {
    /// Looks at the documents through the job's steps; what the server does not compute is told with the line of the step.
    func locating<R>(in collection: MongoCollection, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as MongoError where error.isOfExpression {
            throw try located(error, in: collection)
        }
    }

    /// The first step that the server fails at, as the steps follow each other.
    private func located(_ error: MongoError, in collection: MongoCollection) throws -> any Error {
        var pipeline: [BSONDocument] = []
        for step in job.steps where step.client == nil {
            pipeline.append(step.stage)
            do throws(MongoError) {
                // All of them are computed, and nothing comes back.
                _ = try collection.aggregate(
                    pipeline + [["$group": ["_id": nil, "n": ["$sum": ["$bsonSize": "$$ROOT"]]]]],
                    options: Survey.options
                ).documents()
            } catch {
                guard error.isOfExpression else { continue }
                return BackfillError(.schemaMismatch, "\(step.step): the server cannot compute it: \(error.message)")
                    .located(at: step.location)
            }
        }
        return error
    }
}

extension MongoError {
    /// Whether the server fails at what it was to compute, and would again.
    fileprivate var isOfExpression: Bool {
        domain == .server && !isTransient && !isTimeLimit && !isAuthorization && !isCursorLost
            && code != .collectionUUIDMismatch && code != .interrupted
    }
}
