import BSON

/// The result of `doctor`, in every output format.
package struct DoctorResult: Reportable {
    private let found: DoctorReport
    private let isStrict: Bool

    /// Wraps the report of `doctor`.
    /// - Parameter isStrict: whether warnings make the command exit with code 1, as errors do.
    package init(_ report: DoctorReport, isStrict: Bool) { (found, self.isStrict) = (report, isStrict) }

    /// Returns the result as text: the areas with their findings, and the remedies below the findings.
    package func text(_ layout: TextLayout) -> String {
        let paint = Paint(isOn: layout.isColored)
        let width = found.findings.map(\.name.count).max() ?? 0
        let indent = "  \(Self.mark(.good, isPlain: layout.isPlain)) ".count + width + 2
        let areas = found.areas.map { area, findings in
            let lines = findings.flatMap { finding in
                let mark = paint(finding.level, Self.mark(finding.level, isPlain: layout.isPlain))
                let remedy = finding.remedy.map { "to fix: \($0)" }
                // Each line is indented by the width of the finding's mark and name. On the first line, the mark and
                // the name take the place of the indent.
                let lines = [finding.message, remedy].compactMap(\.self)
                    .flatMap { $0.printable.wrapped(to: layout.width, indent: indent) }
                return ["  \(mark) \(finding.name.padded(to: width))  \(lines.first?.dropFirst(indent) ?? "")"]
                    + lines.dropFirst()
            }
            return ([paint.bold(area.rawValue)] + lines).joined(separator: "\n")
        }
        let verdict = paint(found.worst, headline)
        let blocks = [verdict] + (layout.isQuiet ? [] : areas)
        return blocks.joined(separator: "\n\n").fitted(to: layout.width) + "\n"
    }

    private static func mark(_ level: Report.Level, isPlain: Bool) -> String {
        switch level {
        case .good: isPlain ? "ok  " : "✓"
        case .notice: isPlain ? "note" : "·"
        case .warning: isPlain ? "warn" : "!"
        case .error: isPlain ? "FAIL" : "✗"
        }
    }

    private var headline: String {
        let counts = [(Report.Level.error, "error"), (.warning, "warning")].filter { found.count(of: $0.0) > 0 }
            .map { found.count(of: $0).counted($1) }
        let what = found.source.map { " with \($0)" } ?? ""
        return counts.isEmpty ? "Nothing is wrong\(what)." : "\(counts.joined(separator: ", "))\(what)."
    }

    package var json: JSONReport {
        let checks = found.findings.map { finding in
            [
                "area": finding.area.rawValue, "name": finding.name, "level": "\(finding.level)",
                "message": finding.message, "remedy": finding.remedy,
            ] as ReportValue
        }
        let counts = Report.Level.allCases.map { ("\($0)", ReportValue.integer(found.count(of: $0))) }
        return JSONReport(
            "doctor", ["source": found.source, "checks": checks, "counts": ReportValue.object(counts)])
    }

    package var report: Report {
        var report = Report(
            command: "doctor", title: found.source ?? "no deployment", headline: headline, level: found.worst)
        report.style.sectionKind = "area"
        report.sections = found.areas.map { area, findings in
            Report.Section(
                name: area.rawValue, columns: ["level", "what", "state", "to fix"], findings: findings.map(finding))
        }
        return report
    }

    private func finding(_ finding: DoctorReport.Finding) -> Report.Finding {
        Report.Finding(
            level: finding.level, isFailure: finding.level == .error || isStrict && finding.level == .warning,
            code: finding.name, message: finding.message,
            asides: finding.remedy.map { ["to fix: \($0)"] } ?? [],
            cells: [
                Report.Cell("\(finding.level)", level: finding.level), Report.Cell(finding.name),
                Report.Cell(finding.message), Report.Cell(finding.remedy ?? ""),
            ])
    }
}
