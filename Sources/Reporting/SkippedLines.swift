package import BSON
package import Backfill
package import JobState

/// The lines of the file of `backfill --failures`: one JSON object per line, the last of which is the `result`.
///
/// The lines have the format of those that `check` writes, with the server's error code instead of the violations.
package struct SkippedLines: Sendable {
    private let namespace: Namespace

    /// - Parameter namespace: the job's collection.
    package init(of namespace: Namespace) { self.namespace = namespace }

    /// The first line.
    package var header: String {
        ReportValue.object(
            [("record", .string("header"))] + JSONReport.head("backfill", version: FailureLines.schemaVersion)
        ).line
    }

    /// Returns the line for a document that the run skipped.
    package func line(_ failure: Failure) -> String {
        ReportValue.object([
            ("record", .string("failure")), ("database", .string(namespace.database)),
            ("collection", .string(namespace.collection)), ("_id", .extended(failure.id)),
            ("code", failure.code == 0 ? .null : .integer(failure.code)), ("reason", .string(failure.name)),
            ("phase", .integer(failure.phase)),
        ]).line
    }

    /// Returns the last line; a file without it is incomplete.
    package func result(_ report: BackfillReport) -> String {
        ReportValue.object([
            ("record", .string("result")), ("changed", .integer(report.work.modified)),
            ("set_aside", .integer(report.failures.reduce(0) { $0 + $1.count })),
        ]).line
    }
}
