package import Checking
package import Planning

/// A planned job, with the path of its file and the schemas that it was planned from.
package struct PlanFile: Sendable {
    package let job: PlannedJob
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    /// The older and the newer schema, as the operator named them.
    package let old: String, new: String
    /// The paths of the two schemas relative to the file's folder; `nil` for a schema that is not a file or folder.
    package let oldPath: String?, newPath: String?
    /// The paths of the active and the next schema, as the job file states them.
    ///
    /// A path is `nil` if the schema is not a file or folder. The path of the active schema is also `nil` if that
    /// schema does not have the job's collection. The operator does not have to edit the job file after the next schema
    /// is deployed, because `shipshape job deployed` records that this schema is live.
    package var schemas: (active: String?, next: String?) { (job.isKnownToOld ? oldPath : nil, newPath) }
    /// The sync engine for which the job repairs documents, besides the newer schema if there is one.
    package let engine: Engine?
    /// The arguments of a check of what the job repairs, without those of its collection.
    package let checked: [String]
    /// The goal of repairs, in words that follow "documents": the schema and the engine that do not take them.
    var goal: String {
        let schema = checked.contains(new) ? ["that do not fit \(new)"] : []
        return (schema + (engine.map { ["that \($0.rawValue) does not take as they are"] } ?? [])).joined(
            separator: " or ")
    }
    /// The arguments of `shipshape check`, as a shell reads them.
    var words: String {
        (checked.map(\.shellWord) + (engine.map { ["--engine \($0.rawValue)"] } ?? [])).joined(separator: " ")
    }

    /// The jobs to run after this job, once the newer schema is deployed, joined by "and"; `nil` if there are none.
    ///
    /// Each job is named by the path of its file or, if no files are written, by its name.
    package let follower: String?

    package init(
        _ job: PlannedJob, path: String?, old: String, new: String, engine: Engine? = nil, checked: [String]? = nil,
        oldPath: String?, newPath: String?, follower: String?
    ) {
        self.job = job
        self.path = path
        (self.engine, self.checked, self.follower) = (engine, checked ?? [new], follower)
        (self.old, self.new, self.oldPath, self.newPath) = (old, new, oldPath, newPath)
    }
}

/// A planned partner job, with the path and the text of its file.
package struct PlanPartner: Sendable {
    /// The draft of the job, with the parts that the planner derives from the older and the newer schema.
    package let draft: PartnerDraft
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    package let text: String

    /// Creates a planned partner job with its file.
    package init(_ draft: PartnerDraft, path: String?, text: String) {
        (self.draft, self.path, self.text) = (draft, path, text)
    }
}
