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

    /// Whether something is left for the operator at the end.
    ///
    /// The findings of a job do not count if a later job of the same collection left no document that does not fit the
    /// next schema, and has no findings itself.
    package var hasFindings: Bool {
        jobs.enumerated().contains { index, job in
            job.report.hasFindings
                && !jobs[(index + 1)...].contains { later in
                    later.report.namespace == job.report.namespace && later.report.unsyncable?.after == 0
                        && !later.report.hasFindings
                }
        }
    }
}
