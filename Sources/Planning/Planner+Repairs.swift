import BSON
package import Checking
import Jobs
import ServerSchema

extension Planner {
    /// Plans the jobs that repair the documents in which a check found failures.
    ///
    /// The planner's older and newer schema are both the live schema, because a repair does not change the schema.
    /// - Parameters:
    ///   - report: the report of the check.
    ///   - includesPossible: whether to plan also for documents that only might fail.
    ///   - undeclared: the fields that failing documents have in place of missing ones.
    ///   - values: the distinct values of the findings.
    /// - Throws: ``PlanError`` when a value that the user states does not fit the schema; ``JobError`` when a
    ///   planned step does not fit the schema, which is a defect of the planner.
    package func repairs(
        of report: CheckReport, includesPossible: Bool, undeclared: UndeclaredNames = UndeclaredNames(),
        values found: BadValues = BadValues()
    ) throws -> SchemaPlan {
        let stated = try statedValues()
        var plan = SchemaPlan(dialect: new.dialect, collections: [], remarks: [])
        let failing = report.total.unexcepted
        plan.failing = failing.certain + (includesPossible ? failing.possible : 0)
        var (possible, accepted) = (0, 0)
        let collections = report.collections.sorted {
            ($1.groups.outcome, $0.namespace) < ($0.groups.outcome, $1.namespace)
        }
        for collection in collections where collection.isCounted {
            let groups = collection.groups.filter { $0.exception == nil }
            accepted += collection.groups.count - groups.count
            let findings = groups.filter { $0.violation.level >= (includesPossible ? .possible : .certain) }
            if !includesPossible { possible += groups.count { $0.violation.level == .possible } }
            let values = stated[collection.namespace] ?? [:]
            guard let target = new[collection.namespace], !findings.isEmpty || !values.isEmpty else { continue }
            let described = target.described
            var fields = FieldPlanner(dialect: new.dialect, old: described, new: described, stated: values)
            fields.undeclared = { undeclared[collection.namespace, $0] }
            fields.remap = { found.remap($0, of: collection.namespace, $1, to: $2) }
            if case .partition(let key)? = new.sync?.mode { fields.nextPartitionKey = key.field }
            plan.collections.append(repairs(of: findings, in: target, fields))
            if collection.overflowCount > 0 {
                plan.notes.append(
                    "\(collection.namespace): there are too many different findings to plan for all of them; run the "
                        + "jobs, and plan again")
            }
        }
        if possible > 0 {
            plan.notes.append(
                "findings that only might stop sync, without a step: \(possible); --strict plans for them")
        }
        if accepted > 0 {
            plan.notes.append("findings that the file of exceptions accepts, without a step: \(accepted)")
        }
        name(&plan)
        return plan
    }

    private func repairs(
        of findings: [ViolationGroup], in target: CollectionSchema, _ fields: FieldPlanner
    ) -> CollectionPlan {
        var plan = CollectionPlan(namespace: target.namespace, jobs: [], remarks: [])
        plan.dialect = new.dialect
        let hasSchema = !target.root.types.isEmpty || !target.root.properties.isEmpty
        if new.dialect == .jsonSchema, hasSchema, !new.isContract { plan.validator = target.root.jsonSchema }
        let stage = StageCheck(old: old.described, new: new.described, namespace: target.namespace)
        var groups = FindingPlanner(fields: fields, stage: stage, root: target.root).groups(for: findings)
        // In most cases, one check accepts the steps of all groups together, so the groups need not be checked one by
        // one.
        if stage.refusal(of: groups.flatMap(\.steps)) != nil {
            var kept: [StepLine] = []
            for index in groups.indices {
                // One job has at most `JobFile.maximumSteps` steps, and only the steps of one job are checked against
                // each other. Steps that belong to earlier jobs are therefore left out.
                let own = Array(kept[(kept.count / JobFile.maximumSteps * JobFile.maximumSteps)...])
                if let reason = stage.refusal(of: own + groups[index].steps) {
                    groups[index] = groups[index].refused(because: reason, in: new.dialect)
                } else {
                    kept += groups[index].steps
                }
            }
        }
        let job = PlannedJob(
            name: "", namespace: target.namespace, stage: .anyTime, isKnownToOld: true,
            entries: groups.flatMap(\.entries))
        plan.jobs = job.parts
        plan.moveStepless()
        plan.partner = FindingPlanner.partner(for: findings, of: target.namespace)
        return plan
    }
}

extension SchemaPlan {
    /// Adds remarks on the distinct values of the findings.
    mutating func say(_ values: BadValues) {
        for index in collections.indices {
            let namespace = collections[index].namespace
            collections[index].changeEntries { entry in
                entry.remarks += entry.violations.compactMap { values.remark(on: $0, of: namespace) }
            }
        }
    }

    /// Completes a plan of repairs after the survey.
    ///
    /// Each step repairs the documents of some findings. If the survey shows that the step cannot change any of these
    /// documents, a remark replaces the step. A job with the step would only report the documents that the step skips.
    mutating func completeRepairs() {
        for index in collections.indices {
            for job in collections[index].jobs.indices {
                let entries = collections[index].jobs[job].entries.compactMap(\.surveyed)
                collections[index].jobs[job].entries = entries
                // A document may be skipped by several steps. `counted` leaves out the documents that only a removed
                // step skipped, and `stuck` counts a document once for each remaining step that skips it. The smaller
                // number is therefore used.
                let stuck = entries.reduce(0) { $0 + ($1.finding?.stuck ?? 0) }
                let counted = collections[index].jobs[job].documents?.stuck ?? 0
                collections[index].jobs[job].documents?.stuck = min(counted, stuck)
            }
            collections[index].moveStepless()
        }
    }
}

extension CollectionPlan {
    fileprivate mutating func moveStepless() {
        let isStepless = { (job: PlannedJob) in job.steps.isEmpty && !job.isDraft }
        remarks += jobs.filter(isStepless).flatMap(\.entries)
        jobs.removeAll(where: isStepless)
    }
}

extension PlanEntry {
    /// The entry with a remark if its step changes more documents than fail.
    fileprivate var sayingMore: PlanEntry {
        let failing = violations.reduce(0) { $0 + $1.count }
        guard let finding, step != nil, !violations.isEmpty, finding.needing > failing else { return self }
        var entry = self
        let more = finding.needing - failing
        let others = more == 1 ? "1 document that does" : "\(more) documents that do"
        entry.remarks.append("changes \(others) not fail, too: the step treats equal values alike")
        return entry
    }

    /// The entry after the survey; `nil` if it is removed.
    ///
    /// If the survey found a document that needs the entry's step, the entry stays as it is. In every other case:
    /// - an entry that repairs findings of the check becomes a remark;
    /// - an entry without findings is removed if ``isStray`` is `true`, and stays as it is if it is `false`.
    fileprivate var surveyed: PlanEntry? {
        guard let step, let finding, finding.needing == 0 else { return sayingMore }
        guard !violations.isEmpty else { return isStray ? nil : self }
        var entry = self
        (entry.role, entry.step, entry.review, entry.finding) = (.manual, nil, nil, nil)
        let left = finding.skipped.filter { $0.isTrouble && $0.count > 0 }
        let reasons = left.map { "\($0.reason) in \($0.count == 1 ? "1 document" : "\($0.count) documents")" }
        entry.remarks = [
            reasons.isEmpty
                ? "the step \"\(step.kind)\" finds none of these documents, perhaps because they changed: check again"
                : "the step \"\(step.kind)\" can change none of these values (\(reasons.joined(separator: ", "))): "
                    + "correct them"
        ]
        for reason in left.compactMap({ CompiledStep.Reason(rawValue: $0.reason) }) {
            if let remedy = reason.remedy { entry.remarks.append("\(reason.rawValue): \(remedy)") }
            if reason == .rounded { entry.suggestions.append(step.allowingLoss) }
            if reason == .ambiguous { entry.suggestions.append(step.withLegacy) }
        }
        return entry
    }
}
