/// What a migration did, or would do.
package struct MigrationReport: Sendable {
    /// Whether nothing was written.
    package let isDryRun: Bool
    /// The jobs that it came to, in their order, each with its file's name; the last may have stopped.
    package var jobs: [(file: String, report: BackfillReport)] = []
    /// The jobs that are still pending.
    package var remaining: [String]

    /// Begins with all that is pending.
    package init(isDryRun: Bool, remaining: [String]) {
        self.isDryRun = isDryRun
        self.remaining = remaining
    }

    /// Whether a job left documents that need the operator.
    package var hasFindings: Bool { jobs.contains { $0.report.hasFindings } }
}
