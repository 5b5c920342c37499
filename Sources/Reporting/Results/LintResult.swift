import BSON
package import ServerSchema

/// The result of `lint`, in every output format.
package struct LintResult: Reportable {
    let found: LintReport
    private let isStrict: Bool

    /// Wraps the report of `lint`.
    /// - Parameter isStrict: whether warnings make the command exit with code 1, as errors do.
    package init(_ report: LintReport, isStrict: Bool) { (found, self.isStrict) = (report, isStrict) }

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

    package var report: Report {
        var report = Report(
            command: "lint", title: found.source, headline: found.headline, level: found.worst?.reported ?? .good)
        report.file = found.source
        report.figures.facts =
            [Report.Fact("schemas", found.collections.count)]
            + LintFinding.Level.allCases.map { Report.Fact("\($0.rawValue)s", found.count(of: $0)) }
        report.warnings = found.notes
        report.style.sectionKind = "file"
        report.sections = found.files.map { findings in
            Report.Section(
                name: findings[0].location.file,
                about: Set(findings.compactMap(\.namespace)).sorted().map(\.description).joined(separator: ", "),
                columns: ["level", "rule", "path", "finding", "what to do"],
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
            asides: [finding.remedy].compactMap(\.self),
            cells: [
                Report.Cell(finding.level.rawValue, level: finding.level.reported), Report.Cell(finding.code.rawValue),
                .code(path), Report.Cell(finding.message), Report.Cell(finding.remedy ?? ""),
            ])
    }
}

extension LintFinding.Level {
    fileprivate var reported: Report.Level {
        switch self {
        case .error: .error
        case .warning: .warning
        case .info: .notice
        }
    }
}

extension LintReport {
    var worst: LintFinding.Level? { LintFinding.Level.allCases.first { count(of: $0) > 0 } }

    /// The number of findings of each level, in one sentence.
    var headline: String {
        let schemas = "\(collections.count.counted("schema")) of \(source)"
        let counts = LintFinding.Level.allCases.filter { count(of: $0) > 0 }.map { count(of: $0).counted($0.rawValue) }
        return counts.isEmpty ? "Nothing found in \(schemas)." : "\(counts.joined(separator: ", ")) in \(schemas)."
    }

    var listed: [LintFinding] { findings.sorted { $0.level < $1.level }.prefix(Report.mostListed).sorted() }

    /// A note on the findings that are only counted; empty if all are listed.
    var notes: [String] { Report.omission(of: findings.count, "finding") }

    /// The listed findings of each file; the file with the worst finding comes first.
    var files: [[LintFinding]] {
        Dictionary(grouping: listed, by: \.location.file).values.map { $0.sorted() }.sorted { left, right in
            guard let first = left.first, let other = right.first else { return false }
            return (first.level, first.location.file) < (other.level, other.location.file)
        }
    }
}
