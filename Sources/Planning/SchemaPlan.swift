package import BSON
package import Checking
package import SchemaChange
package import ServerSchema

/// The jobs that make the documents of one schema fit another, and what no job can do.
package struct SchemaPlan: Sendable {
    /// The dialect of both schemas.
    package var dialect: Dialect
    /// The collections that a change or a stated default affects, sorted by namespace.
    package var collections: [CollectionPlan]
    /// Entries for changes of the app as a whole.
    package var remarks: [PlanEntry]
    /// Notes on the plan, a clause each, such as why an existing partner collection does not serve a change.
    package var notes: [String] = []

    /// The jobs of all collections, in the order in which they run.
    package var jobs: [PlannedJob] { collections.flatMap(\.jobs) }
    /// All entries of the plan, both steps and remarks.
    package var entries: [PlanEntry] { remarks + collections.flatMap { $0.jobs.flatMap(\.entries) + $0.remarks } }

    /// The number of entries that no step serves, and that may leave documents unfit.
    package var unplanned: Int { entries.count { $0.role == .manual } }
    /// The number of active steps with a constant that the operator did not state.
    package var reviews: Int { entries.count { $0.isActive && $0.review != nil } }
    /// The number of documents that a step applies to and cannot change, summed over the jobs that were surveyed.
    package var stuck: Int { jobs.reduce(0) { $0 + ($1.documents?.stuck ?? 0) } }
    /// The partner jobs, by collection.
    package var partners: [PartnerDraft] { collections.compactMap(\.partner) }
    /// Questions that the schemas leave open and an operator can answer, each with the step or flag that accepts the
    /// guess.
    package var hints: [String] { entries.compactMap(\.hint) }
}

/// The plan for one collection.
package struct CollectionPlan: Sendable {
    /// The collection, as the newer schema names it.
    package var namespace: Namespace
    /// The collection's jobs: one for each stage, or several if one could not hold all steps.
    package var jobs: [PlannedJob]
    /// Entries that belong to no job.
    package var remarks: [PlanEntry]
    /// The partner job for changes that no job can serve; `nil` if none is recommended.
    package var partner: PartnerDraft?
    /// The newer schema as a validator; `nil` in the dialect of App Services.
    package var validator: BSONDocument?
    /// Whether a change of the collection is breaking for sync, so that the deploy must follow the order of work.
    package var isBreaking = false
}

/// The time at which a job may run, relative to the deploy.
package enum Stage: String, Sendable, CaseIterable {
    /// The job runs while the older schema is live, and again after the deploy.
    case beforeDeploy = "before-deploy"
    /// The job runs only once the newer schema is live, or while sync is terminated.
    case afterDeploy = "after-deploy"
    /// The job runs between two settings of a validator: after it warns, and before it refuses documents.
    case whileWarning = "while-warning"
}

/// A job that is to be written to a file.
package struct PlannedJob: Sendable {
    /// The job's name, which identifies it in the state database.
    package var name: String
    /// The collection that the job changes.
    package var namespace: Namespace
    /// The stage in which the job may run.
    package var stage: Stage
    /// Whether the older schema has the collection, so that the job can name it as the active schema.
    package var isKnownToOld: Bool
    /// The job's steps, and the remarks between them.
    package var entries: [PlanEntry]
    /// The collection whose documents have to be copied into this one first; `nil` if it holds its own.
    package var movedFrom: Namespace?
    /// The part of its stage's work that the job does; `nil` if it does all of it.
    package var part: Part?
    /// The numbers of documents that a survey found; `nil` without a survey.
    package var documents: Documents?

    /// A part of work that is too much for one job.
    package struct Part: Hashable, Sendable {
        /// The number of the part, from 1.
        package var number: Int
        /// The number of parts.
        package var count: Int

        /// The number with leading zeros, so that names sort in the order of the parts.
        package var name: String {
            String(repeating: "0", count: "\(count)".count - "\(number)".count) + "\(number)"
        }
    }

    /// The numbers of documents that a survey found.
    package struct Documents: Hashable, Sendable {
        /// All documents of the collection.
        package var all: Int
        /// Documents that need any of the steps.
        package var needing: Int
        /// Documents that a step applies to and cannot change.
        package var stuck = 0
    }

    /// The steps that the job runs.
    package var steps: [StepLine] { entries.compactMap { $0.isActive ? $0.step : nil } }

    /// Whether the job has no active step, only suggestions, so that its whole file is a comment.
    package var isDraft: Bool { steps.isEmpty && entries.contains { !$0.suggestions.isEmpty } }

    /// The text of the job file without comments.
    package var bareText: String {
        let lines = steps.map { "  - \($0.text)" }.joined(separator: "\n")
        return "job: \(YAMLText.word(name))\ncollection: \(YAMLText.word("\(namespace)"))\nsteps:\n\(lines)\n"
    }
}

/// A step, or a remark in place of one.
package struct PlanEntry: Sendable {
    /// The role that an entry has for its changes.
    package enum Role: String, Sendable {
        /// A step serves the changes.
        case step
        /// The documents need nothing.
        case nothing
        /// No step can serve the changes; the entry recommends a remedy.
        case manual
    }

    /// The role that the entry has for its changes.
    package var role: Role
    /// The changes that the entry serves; empty for a further step that serves the same changes.
    package var changes: [SchemaChange] = []
    /// Remarks for a reviewer.
    package var remarks: [String] = []
    /// The step; `nil` for a remark.
    package var step: StepLine?
    /// A guess at the purpose of the change, with the flag or the step that accepts it; `nil` without a guess.
    package var hint: String?
    /// The part of the step that has to be reviewed before the job runs; `nil` for none.
    package var review: String?
    /// Steps that a reviewer can make active.
    package var suggestions: [StepLine] = []
    /// Whether the step is for values that do not follow the older schema, so that only old data can need it.
    package var isStray = false
    /// Whether a partner collection is recommended for the changes.
    package var isForPartner = false
    /// The partner collection that already serves the changes; `nil` if none does.
    package var partner: PartnerCollection?
    /// The survey's finding for the step; `nil` without a survey.
    package var finding: StepFinding?
    /// The numbers of objects with no link, one and several, where links become embedded objects; `nil` otherwise, or
    /// without a survey.
    package var parents: Backlinks?

    /// Whether the job runs the step: a stray one only if the survey found documents for it, or there was no survey.
    package var isActive: Bool {
        step != nil && !(isStray && finding.map { $0.needing == 0 && $0.stuck == 0 } ?? false)
    }
}

/// The result of a survey for one step.
package struct StepFinding: Sendable {
    /// Documents that need the step and can be changed.
    package var needing: Int
    /// The documents that the step skips, by reason; for a conversion the reason is what is wrong with the value.
    package var leftAlone: [LeftAlone]

    /// The number of skipped documents that the operator has to fix.
    package var stuck: Int { leftAlone.reduce(0) { $0 + ($1.isTrouble ? $1.count : 0) } }

    /// The documents that are skipped for one reason.
    package struct LeftAlone: Sendable {
        /// The reason.
        package var reason: String
        /// Whether the operator has to fix the documents.
        package var isTrouble: Bool
        /// The number of documents.
        package var count: Int
        /// A few of the documents.
        package var samples: [Sample]
    }

    /// One of the skipped documents.
    package struct Sample: Sendable {
        /// The document's `_id`.
        package var id: BSONValue
        /// The value of the step's field; `nil` if it is not a single value.
        package var value: BSONValue?
    }
}
