package import BSON
package import Checking
package import JobState

/// The findings and actions of a run of `enforce`.
package struct EnforcementReport: Sendable {
    /// The outcome of a run.
    package enum Outcome: String, Sendable {
        /// The collection has reached the target stage.
        case done
        /// Documents do not fit, so the run stopped before the next stage.
        case notFitting = "not_fitting"
        /// The run was not to write.
        case dryRun = "dry_run"
        /// Only the stage was requested.
        case status
        /// The earlier validator is restored.
        case aborted
    }

    /// The collection.
    package let namespace: Namespace
    /// The outcome.
    package let outcome: Outcome
    /// The collection's stage now.
    package var stage: EnforcementStage
    /// The stage that the collection is to reach.
    package var target: EnforcementStage
    /// The validation before the first step.
    package var before: Validation
    /// The validation now.
    package var now: Validation
    /// The commands that this run sent.
    package var done: [BSONDocument] = []
    /// The commands that remain until the target.
    package var toCome: [BSONDocument] = []
    /// The last check of the documents; `nil` if there was none.
    package var check: CheckReport?
    /// The last change of the collection, with its time and operator; `nil` if it was not changed.
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

    /// The number of documents that do not fit; `nil` if none were checked.
    package var notFitting: Int? { check.map { $0.total.certain } }
}
