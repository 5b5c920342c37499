import BSON
package import ServerSchema

/// The result of `lint`, in every output format.
package struct LintResult: Reportable {
    private let found: LintReport
    private let isStrict: Bool

    /// - Parameter isStrict: whether warnings make the command exit with code 1, as errors do.
    package init(_ report: LintReport, isStrict: Bool) { (found, self.isStrict) = (report, isStrict) }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String { LintReportText(found, isColored: layout.isColored).text }

    /// The result as JSON.
    package var json: JSONReport { LintReportJSON(found).json }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        var report = Report(
            command: "lint", title: found.source, headline: found.headline, level: found.worst?.reported ?? .good)
        report.facts =
            [Report.Fact(name: "schemas", value: found.collections.count.grouped)]
            + LintFinding.Level.allCases.map {
                Report.Fact(name: "\($0.rawValue)s", value: found.count(of: $0).grouped)
            }
        report.sectionKind = "file"
        report.sections = found.files.map { findings in
            Report.Section(
                name: findings[0].location.file,
                columns: ["level", "rule", "path", "finding", "what to do"].map { Report.Column(title: $0) },
                findings: findings.map(finding))
        }
        return report
    }

    private func finding(_ finding: LintFinding) -> Report.Finding {
        let path = finding.path.isRoot ? "" : "\(finding.path)"
        return Report.Finding(
            level: finding.level.reported,
            isFailure: finding.level == .error || isStrict && finding.level == .warning, code: finding.code.rawValue,
            subject: path, place: finding.location,
            message: (path.isEmpty ? "" : "\(path): ") + finding.message,
            remedy: finding.remedy,
            cells: [
                Report.Cell(finding.level.rawValue, level: finding.level.reported), Report.Cell(finding.code.rawValue),
                Report.Cell(path, isCode: true), Report.Cell(finding.message), Report.Cell(finding.remedy ?? ""),
            ])
    }
}

extension LintFinding.Level {
    /// The level of a finding in a report.
    fileprivate var reported: Report.Level {
        switch self {
        case .error: .error
        case .warning: .warning
        case .info: .notice
        }
    }
}
