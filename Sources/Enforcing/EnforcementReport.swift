package import BSON
package import Checking
package import JobState

/// The findings and actions of a run of `enforce`.
package struct EnforcementReport: Sendable {
    /// The outcome of a run of `enforce`.
    package enum Outcome: String, Sendable {
        /// The collection has reached the target stage.
        case done
        /// Documents do not fit, so the run stopped before the next stage.
        case notFitting = "not_fitting"
        /// The run was a dry run, which does not write.
        case dryRun = "dry_run"
        /// The run only had to show the stage.
        case status
        /// The earlier validator is restored.
        case aborted
    }

    /// The collection.
    package let namespace: Namespace
    /// The outcome.
    package let outcome: Outcome
    /// The stage of the collection at the end of the run.
    package var stage: EnforcementStage
    /// The stage that the collection is to reach.
    package var target: EnforcementStage
    /// The collection's validation before the first step.
    package var before: Validation
    /// The collection's validation at the end of the run.
    package var now: Validation
    /// The commands that this run sent.
    package var done: [BSONDocument] = []
    /// The commands that remain to be sent until the collection reaches the target.
    package var toCome: [BSONDocument] = []
    /// The last check of the documents; `nil` if there was none.
    package var check: CheckReport?
    /// The last change of the collection by `enforce`, with its time and operator; `nil` if there was none.
    package var mark: String?
    /// Further notes for the operator, one sentence each.
    package var notes: [String] = []

    /// Creates a report from the parts that every report has.
    package init(
        _ namespace: Namespace, _ outcome: Outcome, at stage: EnforcementStage, to target: EnforcementStage,
        before: Validation, now: Validation
    ) {
        (self.namespace, self.outcome, self.stage, self.target) = (namespace, outcome, stage, target)
        (self.before, self.now) = (before, now)
    }

    /// The number of documents that certainly do not fit; `nil` if no documents were checked.
    package var notFitting: Int? { check.map { $0.total.certain } }
}
