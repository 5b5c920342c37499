import BSON
import ServerSchema

extension LintResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport {
        JSONReport(
            "lint",
            [
                "source": found.source, "collections": found.collections.map(\.description),
                "findings": found.listed.map(json), "notes": found.notes,
                "counts": ReportValue.object(
                    LintFinding.Level.allCases.map { ($0.rawValue, .integer(found.count(of: $0))) }),
            ])
    }

    private func json(_ finding: LintFinding) -> ReportValue {
        let hasPlace = finding.location.line > 0
        return [
            "level": finding.level.rawValue, "code": finding.code.rawValue,
            "database": finding.namespace?.database, "collection": finding.namespace?.collection,
            "path": "\(finding.path)", "file": finding.location.file, "line": hasPlace ? finding.location.line : nil,
            "column": hasPlace ? finding.location.column : nil, "message": finding.message, "remedy": finding.remedy,
        ]
    }
}
