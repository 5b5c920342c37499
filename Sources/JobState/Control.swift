package import BSON
package import Jobs

/// The operators' requests to a job.
///
/// Operators can write them from any machine; the job's runner reads them before each chunk.
package struct Control: Hashable, Sendable {
    /// The operator who made a request, the time of the request, and a note.
    package struct Mark: Hashable, Sendable {
        /// The operator who made the request, as `user@host`.
        package var by: String
        /// The time of the request, by the server's clock; `nil` if the stored request has no valid time.
        package var at: ServerTime?
        package var note: String?

        package init(by: String, at: ServerTime?, note: String?) { (self.by, self.at, self.note) = (by, at, note) }
    }

    /// The operator's request to pause the job; `nil` if the job is not paused.
    package var paused: Mark?
    /// The limits that an operator set in place of the limits in the job file.
    package var limits: [LimitOverride] = []
    /// The record of the deploy of the job's next schema; `nil` if no deploy is recorded.
    package var deployed: Mark?
    /// Whether the program found the next schema active in the MongoDB deployment; `false` if only an operator reported
    /// the deploy.
    package var isDeployVerified = false

    package init() {}

    /// Reads the field `control` of a job's record in the collection `jobs`.
    package init(_ record: BSONDocument) {
        guard let control = record["control"]?.document else { return }
        paused = control["paused"]?.document.map(Mark.init)
        limits = LimitOverride.all(in: control["limits"]?.document ?? [:])
        let deploy = control["deployed"]?.document
        deployed = deploy.map(Mark.init)
        isDeployVerified = deploy?["verified"] == .bool(true)
    }
}

extension Control.Mark {
    /// Reads a stored mark; if the operator's name is missing, it becomes `unknown`.
    package init(_ document: BSONDocument) {
        self.init(
            by: document["by"]?.text ?? "unknown", at: ServerTime(document["at"]), note: document["note"]?.text)
    }
}
