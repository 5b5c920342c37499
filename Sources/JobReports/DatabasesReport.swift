import BSON
package import Running

/// The result of a job, or of its dry run, in several databases that have the same collections.
package struct DatabasesReport: Sendable {
    package enum Outcome: Sendable {
        /// The job ended with a report: it is done, was stopped, or was a dry run.
        case reported(BackfillReport)
        /// An error, given in words, ended the job after it had changed `changed` documents.
        case failed(String, changed: Int)
        /// The database does not have the job's collection.
        case noCollection
        /// The job was undone in the database, and never runs again there.
        case undone
        /// The run ended before it reached the database; `wasDone` is true if an earlier run finished the job there.
        case notReached(wasDone: Bool)
    }

    package struct Entry: Sendable {
        package var database: String
        /// The name of the job in the database, for example `NAME.in-DATABASE`.
        package var job: String
        package var outcome: Outcome
        /// The exit code that the command would have if it had run in this database alone; `nil` if nothing was run.
        package var exitCode: Int?

        package init(database: String, job: String, outcome: Outcome, exitCode: Int? = nil) {
            (self.database, self.job, self.outcome, self.exitCode) = (database, job, outcome, exitCode)
        }

        package var report: BackfillReport? { if case .reported(let report) = outcome { report } else { nil } }

        /// How many documents the job changed, or would change; `nil` if nothing was run.
        package var changed: Int? {
            if case .failed(_, let changed) = outcome { changed } else { report?.work.modified }
        }

        /// How many documents were skipped; `nil` without a report.
        package var skipped: Int? { report.map { $0.failures.reduce(0) { $0 + $1.count } } }
    }

    /// The reason why a run ended before it reached all databases.
    package enum End: Sendable {
        /// A reason to stop that applies to every database.
        case stop(RunStop)
        /// An error, in words, that the job would probably meet in every other database as well.
        case error(String)
    }

    /// The job's name, as its file states it.
    package var job: String
    /// The database that the job file names.
    package var own: String
    /// The pattern of database names by which the databases were chosen.
    package var pattern: String
    package var isDryRun: Bool
    /// The databases, in the order of their names, each with the outcome of the job.
    package var entries: [Entry]
    /// The names of the matching databases that were created during the run.
    package var added: [String] = []
    /// The database at which the run ended early, and why; `nil` if the run reached all databases.
    package var ended: (database: String, end: End)?
    package var seconds = 0.0

    package init(job: String, of own: String, in pattern: String, isDryRun: Bool, entries: [Entry]) {
        (self.job, self.own, self.pattern, self.isDryRun, self.entries) = (job, own, pattern, isDryRun, entries)
    }

    package var reports: [BackfillReport] { entries.compactMap(\.report) }

    /// Why a run in all databases would exceed the limit of unsynced documents; `nil` if it would not.
    ///
    /// The databases share one limit. A run can therefore exceed it although a run in each single database would not.
    /// Only a dry run sets this property.
    package var refusal: String? {
        let madeUnsyncable = reports.compactMap(\.madeUnsyncable).reduce(0, +)
        guard isDryRun, reports.count > 1,
            let headroom = reports.compactMap(\.headroom).min(by: { $0.documents < $1.documents }),
            madeUnsyncable > headroom.documents
        else { return nil }
        return
            "together the jobs would make \(madeUnsyncable.grouped) documents unsyncable under the active schema, "
            + "but there is room for \(headroom.documents.grouped) (\(headroom))"
    }
}

extension RunStop {
    /// Whether this reason to stop applies to a run in every database; `false` if the reason lies in the documents of
    /// one database.
    package var isOfAll: Bool {
        switch self {
        case .signal, .timeBudget, .threshold: true
        case .arrivals, .failures: false
        }
    }
}
