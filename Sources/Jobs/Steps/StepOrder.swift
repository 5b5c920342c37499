import BSON
import LocatedYAML
import ServerSchema

/// Checks the order of a job's steps, so that no step prevents another one from doing its work.
package enum StepOrder {
    /// Checks the steps of a job against each other.
    /// - Throws: ``JobError`` at the step that conflicts with another one.
    package static func check(_ steps: [Job.LocatedStep]) throws(JobError) {
        try checkConditions(steps)
        for (index, located) in steps.enumerated() {
            for earlier in steps[..<index] { try check(located, after: earlier) }
            if located.step.kind.refresh != nil { try checkRefresh(located, at: index, among: steps) }
        }
    }

    /// Returns the steps, each adapted to the steps after it.
    ///
    /// For example, a copy is adapted to later changes of its target.
    package static func joined(_ steps: [Job.LocatedStep]) -> [Job.LocatedStep] {
        steps.indices.map { index in
            var located = steps[index]
            let kind = located.step.kind.followed(by: steps[(index + 1)...].map(\.step))
            located.step = located.step.with(kind)
            return located
        }
    }

    /// Throws if a condition reads a field that an earlier step, or an earlier part of its own step, writes.
    ///
    /// Conditions must apply to the document as it was before the job.
    private static func checkConditions(_ steps: [Job.LocatedStep]) throws(JobError) {
        var written: [(field: String, line: Int)] = []
        for located in steps {
            for part in located.step.kind.parts {
                if let (field, line) = written.first(where: { earlier in
                    located.step.conditionFields.contains { $0.topLevel == earlier.field }
                }) {
                    guard !located.step.isFound else {
                        throw JobError(
                            "\"where\" reads \"\(field)\", in which this step finds several fields: state each of them "
                                + "in a step of its own", at: located.location)
                    }
                    throw JobError(
                        "\"where\" reads \"\(field)\", which the step in line \(line) writes before: put that step "
                            + "after all steps that read it, or make two jobs", at: located.location)
                }
                written += part.touched.map { ($0.topLevel, located.location.line) }
            }
        }
    }

    /// Throws if another step writes the target of a step with `whenPresent: refresh`.
    ///
    /// The two steps would undo each other's changes in every run. Two kinds of other steps are allowed: a `default`
    /// step for the target, and a conversion that the step with `refresh` already makes.
    private static func checkRefresh(
        _ located: Job.LocatedStep, at index: Int, among steps: [Job.LocatedStep]
    ) throws(JobError) {
        let targets = located.step.targets
        for (other, step) in steps.enumerated() where other != index {
            // A `default` step may fill the target, because the step with `refresh` treats the default value as written
            // by the job.
            let fills = step.step.kind.filling != nil && targets.contains(step.step.target)
            if fills, (step.step.kind as? DefaultStep)?.nullsToo == true,
                (located.step.kind as? any TargetRuled)?.rule.nullsToo == false
            {
                throw JobError(
                    "\"refresh\" copies a null that the default in line \(step.location.line) replaces, without "
                        + "end: write \"when: missingOrNull\" here too", at: located.location)
            }
            guard !fills, !located.step.kind.refreshIncludes(step.step.kind),
                let written = step.step.kind.touched.first(where: { path in targets.contains { $0.overlaps(path) } })
            else { continue }
            throw JobError(
                "\"refresh\" cannot be combined with the step in line \(step.location.line), which also writes "
                    + "\"\(written)\": write \"whenPresent: keep\"", at: located.location)
        }
    }

    private static func check(_ located: Job.LocatedStep, after earlier: Job.LocatedStep) throws(JobError) {
        let (step, before) = (located.step, earlier.step)
        let line = earlier.location.line
        func refusal(_ message: String) -> JobError { JobError(message, at: located.location) }
        if let marker = step.kind.marker, before.kind.touched.contains(where: { $0.overlaps(marker) }) {
            throw refusal(
                "the field \"\(marker)\" belongs to the step in line \(line): \"once\" needs one that no other step "
                    + "writes"
            )
        }
        if let marker = before.kind.marker, step.kind.touched.contains(where: { $0.overlaps(marker) }) {
            throw refusal("\"\(marker)\" marks the step in line \(line) as done: no other step can write it")
        }
        if let looked = step.kind.readsBeforehand, before.kind.touched.contains(where: { $0.overlaps(looked) }) {
            throw refusal(
                "\"\(looked)\" is changed by the step in line \(line), but this step reads it in all documents before "
                    + "anything is written: put this step into a job of its own, which backfill FOLDER runs after this "
                    + "one")
        }
        // Where a step found at any depth removed a field, there is nothing left for a later one to find.
        for removed in step.isFound && before.isFound || step.anyDepth != nil || before.anyDepth != nil
            ? [] : before.kind.removed
        {
            if let read = step.readsForValue.first(where: { $0.isOrLiesInside(removed) }) {
                throw refusal("\"\(read)\" is read after the step in line \(line) has removed it: put this step first")
            }
            if let written = step.targets.first(where: { $0.isOrLiesInside(removed) }) {
                throw refusal(
                    "\"\(written)\" is written after the step in line \(line) has removed it: the job would never end")
            }
        }
        // The server cannot tell which documents a client-side step skipped. A later removal would lose their values.
        if let unset = step.kind as? UnsetStep, !unset.changesInPlace, before.kind.clientComputation != nil,
            let read = (before.sources + before.targets).first(where: unset.field.overlaps)
        {
            throw refusal(
                "\"\(read)\" would be lost in documents that the step in line \(line) skips: remove it by a job of its "
                    + "own, once that step skips none")
        }
        // An expression for what the client makes of a value does not exist, so the earlier step would report it.
        if step.kind.clientComputation != nil, step.kind.changesInPlace, before.kind is any TargetRuled,
            let written = before.targets.first(where: step.changes)
        {
            throw refusal(
                "the step in line \(line) writes \"\(written)\", and would report in each later run what this step "
                    + "makes of it: name its own field here, and \"\(written)\" under \"into\"")
        }
        // If the earlier step derives a result from a field that this step changes in place, the result and the field
        // differ after every run, and every later run would report the difference. Such steps are refused.
        if step.kind.changesInPlace,
            let read = step.targets.first(where: { target in before.sources.contains { $0.overlaps(target) } })
        {
            throw refusal("\"\(read)\" is changed in place after another step has read it: put this step first")
        }
        let takesValues = !step.sources.isEmpty || step.kind.movedFrom != nil
        if before.kind.filling != nil, takesValues, !step.kind.changesInPlace,
            let filled = step.targets.first(where: { $0 == before.target && !step.kind.removed.contains($0) })
        {
            throw refusal(
                "\"\(filled)\" is filled by the default in line \(line), so this step would never write it: put this "
                    + "step first")
        }
    }
}

extension Step {
    /// The fields whose present values decide what the step writes.
    fileprivate var readsForValue: [FieldPath] { sources + kind.removed + (kind.changesInPlace ? targets : []) }
}
