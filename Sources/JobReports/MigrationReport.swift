/// The result of a migration, or of its dry run.
package struct MigrationReport: Sendable {
    /// Whether the migration was a dry run, which writes nothing.
    package let isDryRun: Bool
    /// The jobs that the migration reached, in order: the name of each job's file, and the job's report.
    ///
    /// The last of these jobs may have stopped early.
    package var jobs: [(file: String, report: BackfillReport)] = []
    /// The names of the jobs that are still pending.
    package var remaining: [String]

    /// Creates the report before any job is run.
    package init(isDryRun: Bool, remaining: [String]) {
        self.isDryRun = isDryRun
        self.remaining = remaining
    }

    /// Whether the report of at least one job has findings for the operator.
    package var hasFindings: Bool { jobs.contains { $0.report.hasFindings } }
}
