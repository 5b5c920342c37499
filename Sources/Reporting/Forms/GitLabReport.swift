import BSON
import ServerSchema

/// A command's findings as a Code Quality report, which GitLab shows in merge requests.
///
/// Source: GitLab's documentation, "Code Quality report format".
package struct GitLabReport: Sendable {
    private let report: Report

    package init(_ report: Report) { self.report = report }

    /// The JSON text: an array with an object for each finding and each failing part; it ends with a line break.
    package var text: String { LocatedFindings(report).entries.map(issue).reportValue.text() + "\n" }

    private func issue(_ entry: LocatedFindings.Entry) -> ReportValue {
        [
            "description": entry.message, "check_name": entry.code.printable,
            "fingerprint": entry.fingerprint.description,
            "severity": entry.isFailure ? "critical" : severity(entry.level),
            "location": [
                "path": entry.place.file.printable,
                "lines": ["begin": max(1, entry.place.line)] as ReportValue,
            ] as ReportValue,
        ]
    }

    private func severity(_ level: Report.Level) -> String {
        switch level {
        case .error: "major"
        case .warning: "minor"
        case .notice, .good: "info"
        }
    }
}
