import Jobs

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

    /// The jobs that wait for the deploy of their next schemas.
    package let waiting: [JobFolder.Entry]
    /// The path of ``MigrationPlan/deployToRecord``.
    package let deployToRecord: String?

    package init(isDryRun: Bool, _ plan: MigrationPlan) {
        self.isDryRun = isDryRun
        remaining = plan.pending.map(\.name)
        waiting = plan.waiting
        deployToRecord = plan.deployToRecord.map { plan.path(of: $0) }
    }

    /// Whether something is left for the operator at the end.
    ///
    /// The findings of a job do not count if a later job of the same collection left no document that does not fit the
    /// next schema, and has no findings itself. Documents that do not fit the next schema do not count while a job of
    /// the collection waits for the deploy.
    package var hasFindings: Bool {
        jobs.enumerated().contains { index, job in
            hasFindings(job.report)
                && !jobs[(index + 1)...].contains { later in
                    later.report.namespace == job.report.namespace && later.report.unsyncable?.after == 0
                        && !later.report.hasFindings
                }
        }
    }

    /// Whether a job leaves something for the operator that no waiting job is for.
    package func hasFindings(_ report: BackfillReport) -> Bool {
        waiting.contains { $0.parsed.namespace == report.namespace } ? report.hasOwnFindings : report.hasFindings
    }
}
