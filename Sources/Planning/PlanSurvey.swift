import BSON
import Checking
import JobState
package import Jobs
package import Mongo
import Scanning
import SchemaChange
import ServerSchema
package import Steps

/// Looks at the documents that the planned jobs are for.
///
/// Nothing is written.
package struct PlanSurvey: Sendable {
    private let planner: Planner

    /// Wraps the planner that made the plan.
    package init(_ planner: Planner) { self.planner = planner }

    /// The plan with what each step finds; a step that only stray values could need, and none does, becomes a comment.
    /// - Throws: ``MongoError``, and ``RunError`` for a collection that cannot be backfilled.
    package func adding(to plan: SchemaPlan, from client: borrowing Client) throws -> SchemaPlan {
        var plan = plan
        for index in plan.collections.indices {
            var jobs: [PlannedJob] = []
            for job in plan.collections[index].jobs {
                // What a moved collection will hold stands in another.
                if job.movedFrom != nil || job.isDraft {
                    jobs.append(job)
                    continue
                }
                let looked = try look(at: job, client)
                if looked.steps.isEmpty {
                    plan.collections[index].remarks += looked.entries
                } else {
                    jobs.append(looked)
                }
            }
            plan.collections[index].jobs = jobs
        }
        try countParents(in: &plan, client)
        planner.name(&plan)
        return plan
    }

    /// Counts the links to the objects that become embedded ones, from every place of the app.
    private func countParents(in plan: inout SchemaPlan, _ client: borrowing Client) throws(MongoError) {
        var known: [Namespace: Backlinks] = [:]
        for target in plan.entries.flatMap(\.changes).embeddedTargets {
            known[target] = try BacklinkCensus(of: target, from: planner.old.links(to: target)).count(
                in: client.collection(target))
        }
        func count(_ entry: inout PlanEntry) {
            entry.parents = entry.changes.embeddedTargets.first.flatMap { known[$0] }
        }
        for index in plan.collections.indices {
            for entry in plan.collections[index].remarks.indices { count(&plan.collections[index].remarks[entry]) }
            for job in plan.collections[index].jobs.indices {
                for entry in plan.collections[index].jobs[job].entries.indices {
                    count(&plan.collections[index].jobs[job].entries[entry])
                }
            }
        }
    }

    private func look(at job: PlannedJob, _ client: borrowing Client) throws -> PlannedJob {
        var job = job
        let compiled = try planner.compiled(job)
        let survey: JobSurvey
        do {
            survey = try JobSurvey(of: compiled, on: client)
        } catch let error as RunError where error.kind == .unknownCollection {
            job.documents = PlannedJob.Documents(all: 0, needing: 0)
            for index in job.entries.indices where job.entries[index].step != nil {
                job.entries[index].finding = StepFinding(needing: 0, leftAlone: [])
            }
            return job
        }
        job.documents = PlannedJob.Documents(
            all: survey.documents, needing: survey.needing, stuck: survey.stuck)
        var step = 0
        for index in job.entries.indices where job.entries[index].isActive {
            job.entries[index].finding = StepFinding(survey.steps[step], survey.unconverted[step])
            step += 1
        }
        return job
    }
}

extension StepFinding {
    /// A conversion's own reasons are told by what is wrong with the values.
    fileprivate init(_ count: StepCount, _ unconverted: [JobSurvey.Unconverted]) {
        needing = count.needing
        let notConvertible = CompiledStep.Reason.notConvertible.rawValue
        leftAlone =
            count.leftAlone.filter { unconverted.isEmpty || $0.reason != notConvertible }.map { left in
                LeftAlone(
                    reason: left.reason, isTrouble: left.isTrouble, count: left.count,
                    samples: left.samples.map { Sample(id: $0) })
            }
            + unconverted.map { left in
                LeftAlone(
                    reason: left.kind.rawValue, isTrouble: true, count: left.count,
                    samples: left.samples.map { Sample(id: $0.id, value: $0.value) })
            }
    }
}

extension Planner {
    /// The job as it would run.
    /// - Throws: ``JobError`` when it does not fit the schemas: a defect of the planner.
    package func compiled(_ job: PlannedJob) throws(JobError) -> CompiledJob {
        try CompiledJob(JobFile.parse(job.bareText, path: job.name), active: active(for: job), next: new)
    }

    /// Makes sure that the job would run, as far as the fields tell that it names.
    /// - Throws: ``JobError`` when it does not fit the schemas: a defect of the planner.
    package func check(_ planned: PlannedJob) throws(JobError) {
        guard !planned.isDraft else { return }
        let job = try JobFile.parse(planned.bareText, path: planned.name)
        _ = try CompiledJob(job, active: active(for: planned)?.narrowed(to: job), next: new.narrowed(to: job))
    }

    private func active(for job: PlannedJob) -> ServerSchema? {
        job.isKnownToOld ? old : nil
    }
}
