import BSON
import JobState
import Jobs

extension BackfillRunner {
    /// Refuses a job that would not end, by what the survey found, and one with a step that may leave nothing alone and
    /// would.
    /// - Parameter isProof: whether the survey looked ahead.
    func checkEnds(_ survey: Survey.Result, isProof: Bool) throws(BackfillError) {
        let open = !isProof ? [] : survey.after.filter { $0.needing > 0 }.map { "\"\($0.step)\"" }
        guard open.isEmpty else {
            let remedy =
                job.steps.contains { $0.step.kind.isFreeForm && $0.step.kind.marker == nil }
                ? "the steps undo each other, or a step goes on from its own result: let that one name a field that says "
                    + "that it is done, like \"once: _done\"" : "the steps undo each other"
            throw BackfillError(
                .notIdempotent,
                "job \"\(job.job.name)\" would never end: after it, documents still need "
                    + open.joined(separator: ", ") + "; \(remedy)")
        }
        for (step, count) in zip(job.steps, survey.before) {
            let refused = count.leftAlone.filter { found in
                found.count > 0 && step.step.kind.refuses.contains { $0.rawValue == found.reason }
            }
            guard let found = refused.first else { continue }
            throw BackfillError(
                .schemaMismatch,
                "\"\(count.step)\" has \"onError: fail\", and \(found.count) documents are \(found.reason), such as the one "
                    + "with the _id \(found.samples.first.flatMap { try? $0.extendedJSON(.relaxed) } ?? "unknown"): mend them, or say \"onError: report\""
            )
        }
    }
}
