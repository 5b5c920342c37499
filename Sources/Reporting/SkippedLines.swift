package import BSON
package import Backfill
package import JobState

/// The lines of a backfill's failures file: JSON, an object per line, the last of which is the `result`.
///
/// They have the shape of those that `check` writes, with the server's code in the place of the violations.
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

    /// A document that was skipped.
    package func line(_ failure: Failure) -> String {
        ReportValue.object([
            ("record", .string("failure")), ("database", .string(namespace.database)),
            ("collection", .string(namespace.collection)), ("_id", .extended(failure.id)),
            ("code", failure.code == 0 ? .null : .integer(failure.code)), ("reason", .string(failure.name)),
            ("phase", .integer(failure.phase)),
        ]).line
    }

    /// The last line: a file without it is not whole.
    package func result(_ report: BackfillReport) -> String {
        ReportValue.object([
            ("record", .string("result")), ("changed", .integer(report.work.modified)),
            ("set_aside", .integer(report.failures.reduce(0) { $0 + $1.count })),
        ]).line
    }
}
