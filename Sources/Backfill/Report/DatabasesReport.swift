package import Running

/// What a job did, or would do, in many databases of one shape.
package struct DatabasesReport: Sendable {
    /// What became of the job in one of them.
    package enum Outcome: Sendable {
        /// It came to a report: it is done, was stopped, or was only shown.
        case reported(BackfillReport)
        /// An error ended it there, after so many documents were changed.
        case failed(String, changed: Int)
        /// The database has no collection of that name.
        case noCollection
        /// The job was undone there, and never runs again.
        case undone
        /// The run ended before; whether an earlier one had done the job there.
        case notReached(wasDone: Bool)
    }

    /// A database and what became of the job there.
    package struct Entry: Sendable {
        /// The database.
        package var database: String
        /// The job of the database.
        package var job: String
        /// What became of it.
        package var outcome: Outcome
        /// What the command would have ended with, had it been for this database alone; `nil` where nothing was run.
        package var exitCode: Int?

        /// Joins the parts.
        package init(database: String, job: String, outcome: Outcome, exitCode: Int? = nil) {
            (self.database, self.job, self.outcome, self.exitCode) = (database, job, outcome, exitCode)
        }

        /// The job's report; `nil` where it came to none.
        package var report: BackfillReport? { if case .reported(let report) = outcome { report } else { nil } }

        /// Documents that the job changed there, or would change; `nil` where nothing was run.
        package var changed: Int? {
            if case .failed(_, let changed) = outcome { changed } else { report?.work.modified }
        }

        /// Documents that were skipped; `nil` where nobody counted them.
        package var skipped: Int? { report.map { $0.failures.reduce(0) { $0 + $1.count } } }
    }

    /// Why a run ended before it had come to all of them.
    package enum End: Sendable {
        /// What stops every job alike.
        case stop(RunStop)
        /// What fails every job alike.
        case error(String)
    }

    /// The job's name, as its file states it.
    package var job: String
    /// The database that the file names.
    package var own: String
    /// What the databases' names match.
    package var pattern: String
    /// Whether nothing was written.
    package var isDryRun: Bool
    /// The databases, by name.
    package var entries: [Entry]
    /// Databases that match and were made meanwhile.
    package var added: [String] = []
    /// Where the run ended early, and why; `nil` where it came to all of them.
    package var ended: (database: String, end: End)?
    /// How long it took, in seconds.
    package var seconds = 0.0

    /// Begins with nothing run.
    package init(job: String, of own: String, in pattern: String, isDryRun: Bool, entries: [Entry]) {
        (self.job, self.own, self.pattern, self.isDryRun, self.entries) = (job, own, pattern, isDryRun, entries)
    }

    /// The reports of those that came to one.
    package var reports: [BackfillReport] { entries.compactMap(\.report) }

    /// Why a run in all of them would not come through, though it may in each by itself: the limit is one for all.
    package var refusal: String? {
        let harm = reports.compactMap(\.harm).reduce(0, +)
        guard isDryRun, reports.count > 1,
            let headroom = reports.compactMap(\.headroom).min(by: { $0.documents < $1.documents }),
            harm > headroom.documents
        else { return nil }
        return
            "together the jobs would make \(harm) documents unsyncable under the active schema, and there is room for "
            + "\(headroom.documents) (\(headroom))"
    }
}

extension RunStop {
    /// Whether it stops the job in the next database alike; else it is of the documents of this one.
    package var isOfAll: Bool {
        switch self {
        case .signal, .timeBudget, .threshold: true
        case .arrivals, .failures: false
        }
    }
}
