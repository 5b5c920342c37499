package import BSON
package import Checking
package import JobState

/// What a run of `enforce` found and did.
package struct EnforcementReport: Sendable {
    /// How it ended.
    package enum Outcome: String, Sendable {
        /// The collection is where it was to come.
        case done
        /// Documents do not fit, so it went no further.
        case notFitting = "not_fitting"
        /// Nothing was to be written.
        case dryRun = "dry_run"
        /// Only the stage was asked for.
        case status
        /// What was there before is there again.
        case aborted
    }

    package let namespace: Namespace
    package let outcome: Outcome
    /// Where the collection is now.
    package var stage: EnforcementStage
    /// Where it is to come.
    package var target: EnforcementStage
    /// What was there before.
    package var before: Validation
    /// What is there now.
    package var now: Validation
    /// What was done in this run.
    package var done: [BSONDocument] = []
    /// What is to come, up to the target.
    package var toCome: [BSONDocument] = []
    /// The last look at the documents; `nil` where there was none.
    package var check: CheckReport?
    /// Who changed the collection last, and when; `nil` where it was not changed.
    package var mark: String?
    /// What else is to be known, a sentence each.
    package var notes: [String] = []

    /// Joins what every report has.
    package init(
        _ namespace: Namespace, _ outcome: Outcome, at stage: EnforcementStage, to target: EnforcementStage,
        before: Validation, now: Validation
    ) {
        (self.namespace, self.outcome, self.stage, self.target) = (namespace, outcome, stage, target)
        (self.before, self.now) = (before, now)
    }

    /// The documents that do not fit; `nil` where none were looked at.
    package var notFitting: Int? { check.map { $0.total.certain } }
}
