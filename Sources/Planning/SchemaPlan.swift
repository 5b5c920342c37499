package import BSON
package import Checking
import Jobs
package import SchemaChange
package import ServerSchema

/// The jobs that make the documents of one schema fit another schema, and the schema changes for which no job is
/// possible.
package struct SchemaPlan: Sendable {
    /// The dialect of both schemas; that of a client if the newer one stands for it.
    package var dialect: Dialect
    /// The collections that a change or a value stated by the user affects, sorted by namespace; in a
    /// plan of repairs, those at which an engine halts come first.
    package var collections: [CollectionPlan]
    /// Entries for changes that affect the app as a whole and no single collection.
    package var remarks: [PlanEntry]
    /// Notes on the plan, each a clause, such as the reason why an existing partner collection cannot be used for a
    /// change.
    package var notes: [String] = []
    /// The number of documents that fail the schema, in a plan that repairs documents; `nil` in every other plan.
    package var failing: Int?
    /// The counts of the ``failing`` documents that the jobs repair and leave.
    ///
    /// `nil` in every other plan, and if they cannot be counted exactly.
    package var repairs: RepairCount?
    /// The sync engine for which a plan of repairs has jobs, besides the schema if there is one.
    package var engine: Engine?

    /// The jobs of all collections, one collection after another; the jobs of a collection are in the order in which
    /// they run.
    package var jobs: [PlannedJob] { collections.flatMap(\.jobs) }
    /// All entries of the plan, both steps and remarks.
    package var entries: [PlanEntry] { remarks + collections.flatMap(\.entries) }

    /// The number of entries that only recommend a remedy, because no step can make the documents fit.
    package var unplanned: Int { entries.count { $0.role == .manual } }
    /// The number of active steps that a reviewer has to confirm; see ``PlanEntry/review``.
    package var reviews: Int { entries.count { $0.isActive && $0.review != nil } }
    /// The number of documents that a step applies to but cannot change, summed over the surveyed jobs.
    package var stuck: Int { jobs.reduce(0) { $0 + ($1.documents?.stuck ?? 0) } }
    package var partners: [PartnerDraft] { collections.compactMap(\.partner) }
    /// Whether the plan has no file to write, neither of a job nor of a draft.
    package var isEmpty: Bool { jobs.isEmpty && partners.isEmpty }
    /// Guesses at the purpose of schema changes.
    ///
    /// The schemas do not prove a guess, so the user has to confirm it. Each text says which step or flag accepts the
    /// guess.
    package var hints: [String] { entries.compactMap(\.hint) }
}

extension [PlanEntry] {
    /// The orders of work for the changes of the entries, each once.
    package func orders(in dialect: Dialect) -> [WorkOrder] {
        let all = Set(flatMap(\.changes).map { WorkOrder(of: $0.kind, in: dialect) })
        return WorkOrder.allCases.filter(all.contains)
    }
}

extension SchemaPlan {
    /// The collections with a change for which no step is possible, except changes that remove a part of the schema.
    ///
    /// Collections that move to another namespace are left out.
    package var unplannedCollections: Set<Namespace> {
        let changes = collections.flatMap(\.entries).filter { $0.role == .manual }.flatMap(\.changes)
        return Set(changes.filter { $0.new != nil && $0.namespace == $0.oldNamespace }.compactMap(\.namespace))
    }

    /// Adds the findings of a check with the newer schema to the entries that only recommend a remedy.
    ///
    /// A finding belongs to the schema change at the finding's path. If there is none, the finding belongs to the
    /// change at the nearest path that encloses it. A finding is left out if it is only a warning, if the plan has a
    /// step for the change, or if the change requires nothing of the documents.
    package mutating func addFindings(of report: CheckReport) {
        for index in collections.indices {
            guard let found = report.collections.first(where: { $0.namespace == collections[index].namespace }) else {
                continue
            }
            let paths = Set(collections[index].entries.flatMap(\.changes).map(\.path))
            let groups = found.groups.filter { $0.violation.level >= .possible }
            let byPath = Dictionary(grouping: groups) { group in
                let steps = group.violation.path.steps
                let parents = (0...steps.count).reversed().map { SchemaPath(Array(steps.prefix($0))) }
                return parents.first(where: paths.contains)
            }
            collections[index].changeEntries { entry in
                guard entry.role == .manual else { return }
                var seen: Set<SchemaPath> = []
                for path in entry.changes.map(\.path) where seen.insert(path).inserted {
                    entry.violations += byPath[path] ?? []
                }
            }
        }
    }
}

package struct CollectionPlan: Sendable {
    /// The collection, as the newer schema names it.
    package var namespace: Namespace
    /// The dialect of both schemas; that of a client if the newer one stands for it.
    package var dialect = Dialect.appServices
    /// The collection's jobs: one for each stage with work, or several if one job could not hold all steps of a stage.
    package var jobs: [PlannedJob]
    /// Entries that belong to no job of the collection.
    package var remarks: [PlanEntry]
    /// The draft of a partner job, for changes for which no ordinary job is possible; `nil` if none is recommended.
    package var partner: PartnerDraft?
    /// The newer schema as a validator; `nil` for a removed collection, for the schema of a client, and in every
    /// dialect except MongoDB's own.
    package var validator: BSONDocument?
    /// Whether the newer schema stands for a Prisma client, and the validator of the older one stays.
    package var isForClient = false
    /// Whether a change of the collection is breaking for sync: sync must be terminated to deploy the newer schema.
    package var isBreaking = false

    var entries: [PlanEntry] { jobs.flatMap(\.entries) + remarks }

    /// Changes each entry of the jobs and remarks.
    mutating func changeEntries(_ change: (inout PlanEntry) -> Void) {
        for index in remarks.indices { change(&remarks[index]) }
        for job in jobs.indices {
            for index in jobs[job].entries.indices { change(&jobs[job].entries[index]) }
        }
    }
}

/// The time at which a job may run, relative to the deploy of the newer schema.
package enum Stage: String, Sendable, CaseIterable {
    /// The job runs while the older schema is live, and again after the newer schema is deployed.
    case beforeDeploy = "before-deploy"
    /// The job runs only once the newer schema is live, or while sync is terminated.
    case afterDeploy = "after-deploy"
    /// The job runs after the validator was set to warn, and before it is set to refuse documents.
    case whileWarning = "while-warning"
    /// The job may run at any time, because it repairs documents and the schema does not change.
    case anyTime = "any-time"
}

/// A job that the plan writes to a file.
package struct PlannedJob: Sendable {
    /// The job's name, which identifies it in the state database.
    package var name: String
    /// The collection that the job changes.
    package var namespace: Namespace
    package var stage: Stage
    /// Whether the older schema has the collection, so that the job file can name that schema as the active one.
    package var isKnownToOld: Bool
    /// The job's entries: its steps, and remarks in place of steps.
    package var entries: [PlanEntry]
    /// The collection whose documents have to be copied to ``namespace`` first; `nil` if nothing has to be copied.
    package var movedFrom: Namespace?
    /// The part of the work of ``stage`` that the job does; `nil` if the job does all of the work.
    package var part: Part?
    /// The numbers of documents that the survey counted; `nil` if there was no survey.
    package var documents: Documents?
    /// The renames of fields from the older schema to the newer one, which the user stated, as `OLD=NEW`.
    package var renames: [String] = []

    /// A part of the work of one stage, if the work is too much for one job.
    package struct Part: Hashable, Sendable {
        /// The number of the part, from 1.
        package var number: Int
        package var count: Int

        /// The number of the part with leading zeros, so that names sort in the order of the parts.
        package var name: String {
            String(repeating: "0", count: "\(count)".count - "\(number)".count) + "\(number)"
        }
    }

    /// The numbers of documents that a survey counted for a job.
    package struct Documents: Hashable, Sendable {
        package var all: Int
        /// The number of documents that need at least one of the steps.
        package var needing: Int
        /// The number of documents that a step applies to but cannot change.
        package var stuck = 0
    }

    package var steps: [StepLine] { entries.compactMap { $0.isActive ? $0.step : nil } }

    /// Whether the job has suggestions but no active step, so that all of its file is commented out.
    package var isDraft: Bool { steps.isEmpty && entries.contains { !$0.suggestions.isEmpty } }

    /// The text of a minimal job file: the job's name, its collection, its stated renames and its active steps.
    package var bareText: String {
        let lines = steps.map { "  - \($0.text)" }.joined(separator: "\n")
        let stated = renames.isEmpty ? "" : "renames: [\(renames.map(YAMLText.word).joined(separator: ", "))]\n"
        return "job: \(YAMLText.word(name))\ncollection: \(YAMLText.word("\(namespace)"))\n\(stated)steps:\n\(lines)\n"
    }
}

/// A step of a plan, or a remark in place of a step.
package struct PlanEntry: Sendable {
    /// How the plan treats the schema changes of an entry.
    package enum Role: String, Sendable {
        /// A step changes the documents as the changed schema requires.
        case step
        /// The documents need no change.
        case nothing
        /// No step can adapt the documents to the schema changes; the entry recommends a remedy.
        case manual
    }

    /// How the plan treats the entry's changes.
    package var role: Role
    /// The schema changes for which the entry has a step or a remark.
    ///
    /// If several entries are for the same changes, only the first of these entries lists them.
    package var changes: [SchemaChange] = []
    /// The findings that the entry repairs, or recommends a remedy for; a check of the documents made them.
    package var violations: [ViolationGroup] = []
    /// Remarks for a reviewer.
    package var remarks: [String] = []
    /// The step; `nil` if the entry is a remark.
    package var step: StepLine?
    /// A guess at the purpose of the change, with the flag or the step by which the user accepts the guess; `nil` if
    /// there is none.
    package var hint: String?
    /// The point that a reviewer has to confirm before the job runs, in words; `nil` if there is none.
    package var review: String?
    /// Steps that the job file has as comments, and that a reviewer can activate.
    package var suggestions: [StepLine] = []
    /// Whether the step is only for values that violate the older schema, so that perhaps no document has such a value.
    package var isStray = false
    /// Whether a partner collection is recommended for the changes.
    package var isForPartner = false
    /// The existing partner collection that covers the changes, so that they need no step; `nil` if there is none.
    package var partner: PartnerCollection?
    /// The survey's finding for the step; `nil` if there was no survey.
    package var finding: StepFinding?
    /// The counts of the documents that the entry's change embeds, by the number of links to each document.
    ///
    /// `nil` if the change embeds no documents, or if there was no survey.
    package var parents: Backlinks?

    /// Whether the job runs the step.
    ///
    /// A step for values that do not follow the older schema is inactive if the survey found no document that needs the
    /// step and no document that the user has to fix. Without a survey, the step is active.
    package var isActive: Bool {
        step != nil && !(isStray && finding.map { $0.needing == 0 && $0.stuck == 0 } ?? false)
    }
}

package struct StepFinding: Sendable {
    /// The number of documents that need the step and can be changed.
    package var needing: Int
    /// The documents that the step skips, by reason.
    package var skipped: [Skipped]

    /// The number of skipped documents that the user has to fix.
    package var stuck: Int { skipped.reduce(0) { $0 + ($1.isTrouble ? $1.count : 0) } }

    /// The documents that are skipped for one reason.
    package struct Skipped: Sendable {
        /// The reason why the documents are skipped.
        package var reason: String
        /// Whether the user has to fix the documents.
        package var isTrouble: Bool
        package var count: Int
        /// The first few of the skipped documents.
        package var samples: [Sample]

        /// The setting of the step that helps, in brackets; empty if there is none.
        package var remedy: String { CompiledStep.Reason(rawValue: reason)?.remedy.map { " (\($0))" } ?? "" }
    }

    /// One of the skipped documents, as an example.
    package struct Sample: Sendable {
        package var id: BSONValue
        /// The value that the step reads; `nil` if values are not shown, or if the step reads no value, or several.
        package var value: BSONValue?
    }
}

extension PlannedJob {
    /// The jobs that run this job's steps in order: only this job, or several jobs if it has too many steps for one job
    /// file.
    var parts: [PlannedJob] {
        guard steps.count > JobFile.maximumSteps else { return [self] }
        var parts: [[PlanEntry]] = [[]]
        var count = 0
        for entry in entries {
            if entry.step != nil {
                if count == JobFile.maximumSteps {
                    parts.append([])
                    count = 0
                }
                count += 1
            }
            parts[parts.count - 1].append(entry)
        }
        return parts.enumerated().map { index, entries in
            var job = self
            (job.entries, job.part) = (entries, Part(number: index + 1, count: parts.count))
            return job
        }
    }

    /// Whether a text is a valid name for a planned job, even after a suffix such as `-after-deploy` is added.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60 && text.unicodeScalars.allSatisfy(isPlain)
    }

    /// Returns a name for a collection's job and its file; different collections get different names.
    package static func fileName(of namespace: Namespace) -> String {
        let scalars = "\(namespace)".unicodeScalars
        guard scalars.count > 50 || !scalars.allSatisfy(isPlain) else { return "\(namespace)" }
        let plain = String(String.UnicodeScalarView(scalars.prefix(40).map { isPlain($0) ? $0 : "-" }))
        return "\(plain)-\(SHA256.text(of: Array("\(namespace)".utf8)).prefix(8))"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
        default: false
        }
    }
}
