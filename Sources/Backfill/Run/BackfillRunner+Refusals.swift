import BSON
import Checking
package import JobReports
package import JobState
import Jobs
import LocatedYAML
import Mongo
import Running
import ServerSchema
import Steps

extension BackfillRunner {
    /// Refuses to start a job that has to wait until its next schema is deployed.
    package func checkDeploy(of plan: BackfillPlan) throws(RunError) {
        guard plan.deploy == .awaited else { return }
        throw RunError(
            .notDeployed,
            "job \"\(plan.job)\" waits for the deploy of its next schema (requires: \(JobFile.deployed)), and no "
                + "deploy is recorded: nothing was written; when \(deployedState), run the job with --deployed, or "
                + "record the deploy for the job that ran before it: shipshape job deployed --yes FILE")
    }

    /// A clause for a message: the condition under which a job that waits for its next schema's deployment may run.
    private var deployedState: String {
        switch job.next?.dialect {
        case .prisma:
            let schema = job.job.nextSchema?.split(separator: "/").last.map(String.init) ?? "that schema"
            return "all clients use \(schema), or none runs"
        case .jsonSchema: return "clients use that schema"
        case .appServices, nil: return "clients sync under that schema, or sync is terminated"
        }
    }

    /// Refuses a job whose plan found obstacles in the documents.
    func checkObstacles(of plan: BackfillPlan) throws(RunError) {
        guard !plan.obstacles.isEmpty else { return }
        throw RunError(.refusedByData, plan.obstacles.joined(separator: "; "))
    }

    /// Refuses a job whose plan found obstacles in the documents, or that would make too many documents unsyncable.
    ///
    /// The number of these documents is too large if it exceeds both the number that the operator accepted with
    /// `--allow-unsync` and the room that is left in the unsync budget. Documents that are reserved already take no
    /// further room.
    package func checkHeadroom(of plan: BackfillPlan) throws(RunError) {
        try checkObstacles(of: plan)
        let count = plan.risk.madeUnsyncable
        guard let headroom = plan.risk.headroom, count - plan.risk.recorded > headroom.documents,
            count > options.allowUnsync ?? 0
        else { return }
        throw RunError(
            .exceedsHeadroom,
            "job \"\(plan.job)\" would make \(count.grouped) documents unsyncable under the active schema, "
                + "but there is room for \(headroom.documents.grouped) (\(headroom)); convert into a new field "
                + "instead, or accept it with --allow-unsync \(count): the run then stops below the limit and "
                + "can be resumed; to free room: \(Headroom.remedies(for: plan.job))")
    }

    /// Refuses to start a job that an operator paused.
    ///
    /// After `job resume`, the next run continues the job.
    package func checkPause(of plan: BackfillPlan) throws(RunError) {
        guard let paused = plan.paused else { return }
        let since = paused.at.map { " since \($0)" } ?? ""
        throw RunError(
            .paused,
            "job \"\(plan.job)\" is paused by \(paused.by)\(since)\(paused.note.map { " (\($0))" } ?? ""): nothing was "
                + "written; resume it with: shipshape job resume \(plan.job)")
    }

    /// Calls `body`, which makes the server compute the job's steps.
    ///
    /// If the server cannot compute a step, the thrown error names the line of that step in the job file.
    func locating<R>(in collection: MongoCollection, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as MongoError where error.isOfExpression {
            throw try located(error, in: collection)
        }
    }

    private func located(_ error: MongoError, in collection: MongoCollection) throws -> any Error {
        var pipeline: [BSONDocument] = []
        for step in job.steps where step.client == nil {
            pipeline.append(step.stage)
            do throws(MongoError) { try Self.compute(pipeline, in: collection) } catch {
                guard error.isOfExpression else { continue }
                var text = "\(step.step): the server cannot compute it: \(error.message)"
                if error.isOfOneDocument { text += ", for more than 100 documents" }
                if let id = try Self.culprit(of: pipeline, in: collection), let name = try? id.extendedJSON(.relaxed) {
                    text += ", such as for _id \(name)"
                }
                if step.step.kind.isFreeForm { text += "; give the step a \"when\" that such documents do not meet" }
                return RunError(.schemaMismatch, text).located(at: step.location)
            }
        }
        return error
    }

    private static func compute(_ stages: [BSONDocument], in collection: MongoCollection) throws(MongoError) {
        let all: [BSONDocument] = [["$group": ["_id": nil, "n": ["$sum": ["$bsonSize": "$$ROOT"]]]]]
        _ = try collection.aggregate(stages + all, options: Survey.options).documents()
    }

    /// Returns the `_id` of the first document for which the server cannot compute the stages, which is found by
    /// halves; `nil` if the server can compute them for all documents now.
    private static func culprit(
        of stages: [BSONDocument], in collection: MongoCollection
    ) throws(MongoError) -> BSONValue? {
        func window(_ range: Range<Int>) -> [BSONDocument] {
            [["$sort": ["_id": 1]], ["$skip": .integer(range.lowerBound)], ["$limit": .integer(range.count)]]
        }
        var range = 0..<(try collection.countDocuments([:]))
        while range.count > 1 {
            let half = range.lowerBound..<range.lowerBound + range.count / 2
            do throws(MongoError) {
                try compute(window(half) + stages, in: collection)
                range = half.upperBound..<range.upperBound
            } catch {
                guard error.isOfExpression else { throw error }
                range = half
            }
        }
        guard !range.isEmpty else { return nil }
        return try collection.aggregate(window(range) + [["$project": ["_id": 1]]], options: Survey.options)
            .documents().first?["_id"]
    }
}

extension MongoError {
    /// Whether the server's error may come from an expression, so that the same command would fail again.
    fileprivate var isOfExpression: Bool {
        domain == .server && !isTransient && !isTimeLimit && !isAuthorization && !isCursorLost
            && code != .collectionUUIDMismatch && code != .interrupted
    }
}

extension BackfillRunner {
    /// Refuses a job that documents would still need after a run.
    ///
    /// Also refuses a job in which a step with `onError: fail` would skip documents.
    /// - Parameter isProof: whether the survey also counted the documents that would still need the steps after a run.
    func checkEnds(_ survey: Survey.Result, isProof: Bool) throws(RunError) {
        let open = !isProof ? [] : survey.after.filter { $0.needing > 0 }.map { "\"\($0.step)\"" }
        guard open.isEmpty else {
            let remedy =
                job.steps.contains { $0.step.kind.isFreeForm && $0.step.kind.marker == nil }
                ? "the steps undo each other, or a step builds on its own result: give such a step a field that marks "
                    + "finished documents, such as \"once: _done\"" : "the steps undo each other"
            throw RunError(
                .notIdempotent,
                "job \"\(job.job.name)\" would never end: after a run, documents would still need "
                    + open.joined(separator: ", ") + "; \(remedy)")
        }
        for (step, count) in zip(job.steps, survey.before) {
            let refused = count.skipped.filter { found in
                found.count > 0 && step.step.kind.refuses.contains { $0.rawValue == found.reason }
            }
            guard let found = refused.first else { continue }
            throw RunError(
                .schemaMismatch,
                "\"\(count.step)\" has \"onError: fail\" and cannot change \(found.count.grouped) "
                    + "\(found.count == 1 ? "document" : "documents") (\(found.reason)), such as _id "
                    + "\(found.samples.first.flatMap { try? $0.extendedJSON(.relaxed) } ?? "unknown"): fix "
                    + "\(found.count == 1 ? "it" : "them"), or set \"onError: report\"")
        }
    }
}
