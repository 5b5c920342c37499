package import BSON
package import Checking
package import JobState

/// The results of a run of `enforce`.
package struct EnforcementReport: Sendable {
    /// The ways in which a run of `enforce` can end.
    package enum Outcome: String, Sendable {
        /// The collection has reached the target stage.
        case done
        /// The run stopped before the next stage, because some documents do not fit the validator.
        case notFitting = "not_fitting"
        /// The run was a dry run, which writes nothing.
        case dryRun = "dry_run"
        /// The operator asked only to see the stage, so the run did no step.
        case status
        /// The run restored the earlier validator.
        case aborted
    }

    /// The collection whose validator is enforced.
    package let namespace: Namespace
    /// How the run ended.
    package let outcome: Outcome
    package var stage: EnforcementStage
    /// The stage that the collection is to reach.
    package var target: EnforcementStage
    /// The collection's validation before the first step.
    package var before: Validation
    /// The collection's validation at the end of the run.
    package var now: Validation
    /// The commands that this run sent, in order.
    package var done: [BSONDocument] = []
    /// The commands that are still to be sent until the collection reaches the target, in order.
    package var toCome: [BSONDocument] = []
    /// The last check of the documents; `nil` if the run made none.
    package var check: CheckReport?
    /// The time, the step and the operator of the last change by `enforce`; `nil` if there was none.
    package var mark: String?
    /// Notes for the operator on facts that no other property shows, one sentence each.
    package var notes: [String] = []

    package init(
        _ namespace: Namespace, _ outcome: Outcome, at stage: EnforcementStage, to target: EnforcementStage,
        before: Validation, now: Validation
    ) {
        (self.namespace, self.outcome, self.stage, self.target) = (namespace, outcome, stage, target)
        (self.before, self.now) = (before, now)
    }

    /// The number of documents that certainly do not fit the validator; `nil` if the run did not check documents.
    package var notFitting: Int? { check.map { $0.total.certain } }
}
