package import BSON
package import Checking
package import SchemaChange
package import ServerSchema

/// The jobs that make the documents of one schema fit another, and what no job can do.
package struct SchemaPlan: Sendable {
    /// Whose rules both schemas follow.
    package var dialect: Dialect
    /// The collections that a change concerns, by namespace.
    package var collections: [CollectionPlan]
    /// Changes of the app as a whole.
    package var remarks: [PlanEntry]
    /// Why partner collections that are there serve nothing, a clause each.
    package var notes: [String] = []

    /// The jobs of all collections, in the order in which they are run.
    package var jobs: [PlannedJob] { collections.flatMap(\.jobs) }
    /// Everything that is planned or said.
    package var entries: [PlanEntry] { remarks + collections.flatMap { $0.jobs.flatMap(\.entries) + $0.remarks } }

    /// The changes that no step serves, and that may leave documents unfit.
    package var unplanned: Int { entries.count { $0.role == .manual } }
    /// The steps whose constants nobody stated.
    package var reviews: Int { entries.count { $0.isActive && $0.review != nil } }
    /// Documents of each job that a step is about and cannot do, as the data is.
    package var stuck: Int { jobs.reduce(0) { $0 + ($1.documents?.stuck ?? 0) } }
    /// The partner jobs, by collection.
    package var partners: [PartnerDraft] { collections.compactMap(\.partner) }
    /// What the schemas do not tell and an operator may know, each with what accepts it.
    package var hints: [String] { entries.compactMap(\.hint) }
}

/// What is planned for one collection.
package struct CollectionPlan: Sendable {
    /// The collection, as the newer schema names it.
    package var namespace: Namespace
    /// Its jobs: one for each stage, or several where one could not hold all steps.
    package var jobs: [PlannedJob]
    /// What no job has a place for.
    package var remarks: [PlanEntry]
    /// The partner job that serves what no job can; `nil` where none is recommended.
    package var partner: PartnerDraft?
    /// The newer schema as a validator; `nil` in the dialect of App Services.
    package var validator: BSONDocument?
    /// Whether a change of the collection is a breaking one, so that the deploy has its order of work.
    package var isBreaking = false
}

/// When a job may run.
package enum Stage: String, Sendable, CaseIterable {
    /// While the older schema is live, and again after the deploy.
    case beforeDeploy = "before-deploy"
    /// Only once the newer schema is live, or while sync is terminated.
    case afterDeploy = "after-deploy"
    /// Between two settings of a validator: when it warns, and before it refuses.
    case whileWarning = "while-warning"
}

/// A job file to be.
package struct PlannedJob: Sendable {
    /// The job's name: its identity in the state database.
    package var name: String
    /// The collection.
    package var namespace: Namespace
    /// When it may run.
    package var stage: Stage
    /// Whether the older schema has the collection, and so can be named as the active one.
    package var isKnownToOld: Bool
    /// Its steps, and what is said between them.
    package var entries: [PlanEntry]
    /// The collection whose documents have to be copied into it first; `nil` where it holds its own.
    package var movedFrom: Namespace?
    /// Which part of its stage's work it is; `nil` where it is all of it.
    package var part: Part?
    /// What the data says; `nil` when it was not asked.
    package var documents: Documents?

    /// A part of what is too much for one job.
    package struct Part: Hashable, Sendable {
        /// From 1.
        package var number: Int
        /// How many parts there are.
        package var count: Int

        /// The number, so that names stand in the order of the parts.
        package var name: String {
            String(repeating: "0", count: "\(count)".count - "\(number)".count) + "\(number)"
        }
    }

    /// How many documents there are.
    package struct Documents: Hashable, Sendable {
        /// All of the collection.
        package var all: Int
        /// Those that need any of the steps.
        package var needing: Int
        /// Those that a step is about and cannot do.
        package var stuck = 0
    }

    /// The steps that are written as such.
    package var steps: [StepLine] { entries.compactMap { $0.isActive ? $0.step : nil } }

    /// Whether it holds no step but such as an operator may make active: its file is a comment as a whole.
    package var isDraft: Bool { steps.isEmpty && entries.contains { !$0.suggestions.isEmpty } }

    /// The job without a comment: what the file comes to.
    package var bareText: String {
        let lines = steps.map { "  - \($0.text)" }.joined(separator: "\n")
        return "job: \(YAMLText.word(name))\ncollection: \(YAMLText.word("\(namespace)"))\nsteps:\n\(lines)\n"
    }
}

/// A step, or what is said in the place of one.
package struct PlanEntry: Sendable {
    /// What the entry is to its changes.
    package enum Role: String, Sendable {
        /// A step serves them.
        case step
        /// The documents need nothing.
        case nothing
        /// No step can serve them: the recommended remedy is told.
        case manual
    }

    /// What it is to the changes.
    package var role: Role
    /// What it is for; empty for a further step to the same end.
    package var changes: [SchemaChange] = []
    /// What a reviewer should know.
    package var remarks: [String] = []
    /// The step.
    package var step: StepLine?
    /// What it may be instead, with the flag or the step that accepts it; `nil` where nothing suggests so.
    package var hint: String?
    /// What has to be reviewed before the job runs; `nil` when nothing.
    package var review: String?
    /// Steps that a reviewer can make active.
    package var suggestions: [StepLine] = []
    /// Whether the step is about values that the older schema does not speak of, so that only old data can need it.
    package var isStray = false
    /// Whether a partner collection is recommended for them.
    package var isForPartner = false
    /// The partner that serves them already.
    package var partner: PartnerCollection?
    /// What the data says; `nil` when it was not asked.
    package var finding: StepFinding?
    /// Of links that become embedded objects how many lead to each of these; `nil` where none do, or the data was not asked.
    package var parents: Backlinks?

    /// Whether the step is written as one: of a stray kind only where the data needs it, if the data was asked.
    package var isActive: Bool {
        step != nil && !(isStray && finding.map { $0.needing == 0 && $0.stuck == 0 } ?? false)
    }
}

/// What a survey found of one step.
package struct StepFinding: Sendable {
    /// Documents that need it and can be changed.
    package var needing: Int
    /// Documents that it leaves alone, by reason: those of a conversion by what is wrong with the value.
    package var leftAlone: [LeftAlone]

    /// Documents that the operator has to see to.
    package var stuck: Int { leftAlone.reduce(0) { $0 + ($1.isTrouble ? $1.count : 0) } }

    /// Documents that are left alone for one reason.
    package struct LeftAlone: Sendable {
        /// Why.
        package var reason: String
        /// Whether the operator has to see to them.
        package var isTrouble: Bool
        /// How many.
        package var count: Int
        /// A few of them.
        package var samples: [Sample]
    }

    /// One of those documents.
    package struct Sample: Sendable {
        /// Its `_id`.
        package var id: BSONValue
        /// What it holds at the step's field; `nil` where that is no single value.
        package var value: BSONValue?
    }
}
