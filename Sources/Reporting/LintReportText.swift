import BSON
public import ServerSchema

/// A lint's report as text: first the counts, then the findings of each file, the worst first.
public struct LintReportText: Sendable {
    private let report: LintReport
    private let paint: Paint

    /// - Parameter isColored: Whether to use a terminal's colours.
    public init(_ report: LintReport, isColored: Bool = false) {
        self.report = report
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    public var text: String {
        let headline = [report.worst.map { paint($0, report.headline) } ?? paint.green(report.headline)].asLines
        return ([headline] + report.files.map(block)).asReport(verdict: headline)
    }

    private func paint(_ level: LintFinding.Level, _ text: String) -> String {
        switch level {
        case .error: paint.red(text)
        case .warning: paint.yellow(text)
        case .info: text
        }
    }

    private func block(_ findings: [LintFinding]) -> String {
        guard let first = findings.first else { return "" }
        let namespaces = Set(findings.compactMap(\.namespace)).sorted().map(\.description)
        let title =
            paint.bold(first.location.file) + (namespaces.isEmpty ? "" : " (\(namespaces.joined(separator: ", ")))")
        let places = findings.map(place)
        let placeWidth = places.map(\.count).max() ?? 0
        let codeWidth = findings.map(\.code.rawValue.count).max() ?? 0
        let lines = zip(findings, places).map { finding, place in
            let level = paint(finding.level, finding.level.rawValue.padded(to: 7))
            let code = finding.code.rawValue.padded(to: codeWidth)
            let path = finding.path.isRoot ? "" : "\(finding.path): "
            let remedy = finding.remedy.map { " (\($0))" } ?? ""
            return "  \(level) \(place.padded(to: placeWidth)) \(code) \(path)\(finding.message)\(remedy)"
        }
        return ([title] + lines).asLines
    }

    private func place(_ finding: LintFinding) -> String {
        finding.location.line == 0 ? "" : "\(finding.location.line):\(finding.location.column)"
    }
}

extension LintReport {
    /// The level of the worst finding; `nil` if there is none.
    var worst: LintFinding.Level? { LintFinding.Level.allCases.first { count(of: $0) > 0 } }

    /// The number of findings of each level, in one sentence.
    var headline: String {
        let schemas = "\(collections.count.counted("schema")) of \(source)"
        let counts = LintFinding.Level.allCases.filter { count(of: $0) > 0 }.map { count(of: $0).counted($0.rawValue) }
        return counts.isEmpty ? "Nothing found in \(schemas)." : "\(counts.joined(separator: ", ")) in \(schemas)."
    }

    /// The findings of each file; the file with the worst finding comes first.
    var files: [[LintFinding]] {
        Dictionary(grouping: findings, by: \.location.file).values.map { $0.sorted() }.sorted { left, right in
            guard let first = left.first, let other = right.first else { return false }
            return (first.level, first.location.file) < (other.level, other.location.file)
        }
    }
}
