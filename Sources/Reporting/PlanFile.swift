package import Planning

/// A planned job and its place: what its file says.
package struct PlanFile: Sendable {
    /// The job.
    package let job: PlannedJob
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    /// The schemas as the operator named them.
    package let old: String, new: String
    /// The schemas as paths from the file's folder; `nil` for one that is no file.
    package let oldPath: String?, newPath: String?
    /// The schemas as the job names them; whether the newer one is live by then is for the operator to record.
    package var schemas: (active: String?, next: String?) { (job.isKnownToOld ? oldPath : nil, newPath) }
    /// The path of the job that follows after the deploy; `nil` when there is none.
    package let follower: String?

    /// Joins the parts.
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

/// A planned partner job and its place.
package struct PlanPartner: Sendable {
    /// The job.
    package let draft: PartnerDraft
    /// The file's path as messages show it; `nil` for standard output.
    package let path: String?
    /// What the file says.
    package let text: String

    /// Joins the parts.
    package init(_ draft: PartnerDraft, path: String?, text: String) {
        (self.draft, self.path, self.text) = (draft, path, text)
    }
}
