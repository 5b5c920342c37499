package import BSON
package import JobReports
package import JobState

/// The lines of the file that `backfill --failures` writes, with one JSON object per line.
///
/// The last line is the `result`. The lines have the format of `check --failures`, but in place of violations, they
/// have the reason, the phase and the server's error code.
package struct SkippedLines: Sendable {
    private let namespace: Namespace

    /// Creates the lines for the documents that a backfill of the collection skips.
    /// - Parameter namespace: the job's collection.
    package init(of namespace: Namespace) { self.namespace = namespace }

    /// The first line of the file, with the versions of the format and of the program.
    package var header: String {
        (ReportValue.record("header") + JSONReport.head("backfill", version: FailureLines.schemaVersion)).line
    }

    package func line(_ failure: Failure) -> String {
        ([
            "record": "failure", "database": namespace.database, "collection": namespace.collection, "_id": failure.id,
            "code": failure.code == 0 ? nil : failure.code, "reason": failure.name, "phase": failure.phase,
        ] as ReportValue).line
    }

    /// Returns the last line of the file; a file without this line is incomplete.
    package func result(_ report: BackfillReport) -> String {
        ([
            "record": "result", "changed": report.work.modified,
            "set_aside": report.failures.reduce(0) { $0 + $1.count },
        ] as ReportValue).line
    }
}
