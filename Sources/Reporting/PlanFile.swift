package import Planning

/// A planned job, with its file and its schemas.
package struct PlanFile: Sendable {
    /// The job.
    package let job: PlannedJob
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    /// The schemas as the operator named them.
    package let old: String, new: String
    /// The schemas as paths relative to the file's folder; `nil` for a schema that is not a file.
    package let oldPath: String?, newPath: String?
    /// The schemas as the job names them; the operator has to record when the newer one is live.
    package var schemas: (active: String?, next: String?) { (job.isKnownToOld ? oldPath : nil, newPath) }
    /// The path of the job that follows after the deploy; `nil` when there is none.
    package let follower: String?

    /// Creates the value.
    package init(
        _ job: PlannedJob, path: String?, old: String, new: String, oldPath: String?, newPath: String?,
        follower: String?
    ) {
        self.job = job
        self.path = path
        (self.old, self.new, self.oldPath, self.newPath) = (old, new, oldPath, newPath)
        self.follower = follower
    }
}

/// A planned partner job with its file.
package struct PlanPartner: Sendable {
    /// The job.
    package let draft: PartnerDraft
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    /// The text of the file.
    package let text: String

    /// Creates the value.
    package init(_ draft: PartnerDraft, path: String?, text: String) {
        (self.draft, self.path, self.text) = (draft, path, text)
    }
}
