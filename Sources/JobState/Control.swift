package import BSON
package import Jobs

/// The operators' requests to a running job: read by its runner before each chunk, written from any machine.
package struct Control: Hashable, Sendable {
    /// The operator who did something, and the time by the server's clock.
    package struct Mark: Hashable, Sendable {
        /// The operator, as `user@host`.
        package var by: String
        /// The time, by the server's clock; `nil` where the record is damaged.
        package var at: ServerTime?
        /// The operator's note.
        package var note: String?

        /// Creates a mark from its parts.
        package init(by: String, at: ServerTime?, note: String?) { (self.by, self.at, self.note) = (by, at, note) }
    }

    /// Set while the job has to wait for `resume`.
    package var paused: Mark?
    /// The limits that replace those of the job file.
    package var limits: [LimitOverride] = []
    /// Set once the next schema is the active one.
    package var deployed: Mark?
    /// Whether the deploy was seen in the deployment itself, and not only stated by an operator.
    package var isDeployVerified = false

    /// Creates a control without any request.
    package init() {}

    /// Reads the `control` of a job's record.
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
    /// Reads a mark; an operator that is missing becomes `unknown`.
    package init(_ document: BSONDocument) {
        self.init(
            by: document["by"]?.text ?? "unknown", at: ServerTime(document["at"]), note: document["note"]?.text)
    }
}
