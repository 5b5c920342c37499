package import BSON
package import Jobs

/// What operators asked of a job while it runs: read by its runner before each chunk, written from any machine.
package struct Control: Hashable, Sendable {
    /// Who did something, and when by the server's clock.
    package struct Mark: Hashable, Sendable {
        /// The operator, as `user@host`.
        package var by: String
        /// When, by the server's clock; `nil` where the record is damaged.
        package var at: ServerTime?
        /// What the operator said about it.
        package var note: String?

        /// Joins the three.
        package init(by: String, at: ServerTime?, note: String?) { (self.by, self.at, self.note) = (by, at, note) }
    }

    /// Set while the job has to wait for `resume`.
    package var paused: Mark?
    /// Limits that stand in for those of the job file.
    package var limits: [LimitOverride] = []
    /// Set once the next schema is the active one.
    package var deployed: Mark?
    /// Whether the deploy was seen in the deployment itself, and not only told.
    package var isDeployVerified = false

    /// Nothing was asked.
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
    package init(_ document: BSONDocument) {
        self.init(
            by: document["by"]?.text ?? "unknown", at: ServerTime(document["at"]), note: document["note"]?.text)
    }
}
