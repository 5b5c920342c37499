import BSON
import Checking
import JobState
package import Jobs
package import Mongo
import Scanning
import SchemaChange
import ServerSchema
package import Steps

/// Counts the documents that need the planned jobs, and writes nothing.
package struct PlanSurvey: Sendable {
    private let planner: Planner
    private let showsValues: Bool

    /// Creates a survey for plans that the given planner made.
    /// - Parameter showsValues: whether the samples of the documents that a step skips have the values that it reads.
    package init(_ planner: Planner, showsValues: Bool) { (self.planner, self.showsValues) = (planner, showsValues) }

    /// Returns the plan with the survey's findings for its steps.
    ///
    /// A step may be only for values that break the older schema. If no document needs such a step, and the step skips
    /// no document that the user has to fix, the job file contains the step only as a comment.
    /// - Throws: ``MongoError``, ``RunError`` for a collection that cannot be backfilled, and ``JobError`` for a defect
    ///   of the planner.
    /// - Parameter check: the check whose failing documents the plan repairs; `nil` for every other plan.
    package func adding(
        to plan: SchemaPlan, of check: RepairedCheck? = nil, from client: borrowing Client
    ) throws -> SchemaPlan {
        var plan = plan
        for index in plan.collections.indices {
            var jobs: [PlannedJob] = []
            for job in plan.collections[index].jobs {
                // Nothing can be counted for two kinds of jobs. The documents of a moved collection are still in the
                // collection from which they move, and a draft has no steps.
                if job.movedFrom != nil || job.isDraft {
                    jobs.append(job)
                    continue
                }
                let surveyed = try survey(at: job, client)
                if surveyed.steps.isEmpty {
                    plan.collections[index].remarks += surveyed.entries
                } else {
                    jobs.append(surveyed)
                }
            }
            plan.collections[index].jobs = jobs
        }
        try countParents(in: &plan, client)
        if let check {
            plan.completeRepairs()
            plan.say(check.values)
            plan.repairs = try check.count(plan, planner, client)
        }
        planner.name(&plan)
        return plan
    }

    /// Counts the documents that the plan turns into embedded objects, by the number of links to each of them.
    ///
    /// For each collection of such documents, the plan gets the number of documents with no link, with one link and
    /// with several links. Only links from the app's collections in the same database count.
    private func countParents(in plan: inout SchemaPlan, _ client: borrowing Client) throws(MongoError) {
        var known: [Namespace: Backlinks] = [:]
        for target in plan.entries.flatMap(\.changes).embeddedTargets {
            known[target] = try BacklinkCensus(of: target, from: planner.old.links(to: target)).count(
                in: client.collection(target))
        }
        for index in plan.collections.indices {
            plan.collections[index].changeEntries { entry in
                entry.parents = entry.changes.embeddedTargets.first.flatMap { known[$0] }
            }
        }
    }

    private func survey(at job: PlannedJob, _ client: borrowing Client) throws -> PlannedJob {
        var job = job
        let compiled = try planner.compiled(job)
        let survey: JobSurvey
        do {
            survey = try JobSurvey(of: compiled, on: client)
        } catch let error as RunError where error.kind == .unknownCollection {
            job.documents = PlannedJob.Documents(all: 0, needing: 0)
            for index in job.entries.indices where job.entries[index].step != nil {
                job.entries[index].finding = StepFinding(needing: 0, skipped: [])
            }
            return job
        }
        job.documents = PlannedJob.Documents(
            all: survey.documents, needing: survey.needing, stuck: survey.stuck)
        var step = 0
        for index in job.entries.indices where job.entries[index].isActive {
            let kind = compiled.job.steps[step].step.kind
            let ids = showsValues ? survey.steps[step].skipped.flatMap(\.samples) : []
            job.entries[index].finding = StepFinding(
                survey.steps[step],
                try values(of: kind.source ?? kind.target, in: ids, client.collection(job.namespace)))
            step += 1
        }
        return job
    }

    /// Returns the values of a field by the `_id`s of their documents; none for a field inside of lists.
    private func values(
        of field: FieldPath, in ids: [BSONValue], _ collection: borrowing MongoCollection
    ) throws(MongoError) -> [BSONValue: BSONValue] {
        guard !ids.isEmpty, !field.leadsIntoElements else { return [:] }
        let value: BSONDocument = ["value": Expression.field(field).bson]
        let found = try collection.aggregate(
            [["$match": ["_id": ["$in": .array(of: ids)]]], ["$project": .object(value)]], options: Survey.options
        ).documents()
        return Dictionary(
            found.compactMap { document in document["_id"].flatMap { id in document["value"].map { (id, $0) } } }
        ) { first, _ in first }
    }
}

extension StepFinding {
    /// Creates the finding of a step from its counts and the values of sampled documents, by their `_id`s.
    fileprivate init(_ count: StepCount, _ values: [BSONValue: BSONValue]) {
        needing = count.needing
        skipped = count.skipped.map { left in
            Skipped(
                reason: left.reason, isTrouble: left.isTrouble, count: left.count,
                samples: left.samples.map { Sample(id: $0, value: values[$0]) })
        }
    }
}

extension Planner {
    /// Returns the planned job, compiled as a run would compile it.
    /// - Throws: ``JobError`` when the job does not fit the schemas, which is a defect of the planner.
    package func compiled(_ job: PlannedJob) throws(JobError) -> CompiledJob {
        try CompiledJob(
            JobFile.parse(job.bareText, path: job.name), active: active(for: job), next: new.describing(job.namespace))
    }

    /// Checks the job against the parts of the schemas that describe its fields; does nothing for a draft.
    /// - Throws: ``JobError`` when the job does not fit the schemas, which is a defect of the planner.
    package func check(_ planned: PlannedJob) throws(JobError) {
        guard !planned.isDraft else { return }
        var job = try JobFile.parse(planned.bareText, path: planned.name)
        // The user may have stated a rename of a field that no step of this job names. The schemas are narrowed to the
        // fields that the steps name, so the renames are not checked here.
        job.renames = []
        _ = try CompiledJob(
            job, active: active(for: planned)?.narrowed(to: job),
            next: new.describing(job.namespace)?.narrowed(to: job))
    }

    private func active(for job: PlannedJob) -> ServerSchema? {
        job.isKnownToOld ? old.describing(job.namespace) : nil
    }
}
