import BSON
package import SchemaChange

/// The changes from each of several versions of a schema to a newer one, in every output format.
package struct DiffVersionsResult: Reportable {
    private let new: String
    private let reports: [DiffReport]

    /// Wraps the reports.
    /// - Parameters:
    ///   - reports: the changes from each version, the oldest version first.
    ///   - new: the name of the newer schema.
    package init(_ reports: [DiffReport], to new: String) { (self.reports, self.new) = (reports, new) }

    /// Whether the changes from at least one of the versions make the command exit with code 1.
    package var hasFailed: Bool { !failing.isEmpty }

    private var failing: [DiffReport] { reports.filter(\.hasFailed) }

    private var headline: String {
        let all = reports.count.counted("version")
        guard hasFailed else { return "Compatible: \(new) fails none of \(all)." }
        let names = failing.map(\.old).joined(separator: ", ")
        return "Not compatible: \(new) fails \(failing.count.grouped) of \(all): \(names)."
    }

    private var notes: [String] {
        // Most notes are the same for every version, so each note is listed only once.
        reports.flatMap(\.notes).grouped(by: \.self).map(\.key)
    }

    package var json: JSONReport {
        JSONReport(
            "diff versions",
            [
                "new": new,
                "versions": reports.map { report in
                    [
                        "version": report.old, "fails": report.hasFailed, "report": DiffResult(report).json.value,
                    ] as ReportValue
                },
                "notes": notes,
                "verdict": ["compatible": !hasFailed, "failing": failing.map(\.old)] as ReportValue,
            ])
    }

    package var report: Report {
        var report = Report(
            command: "diff", title: "Schema changes to \(new)", headline: headline, level: hasFailed ? .error : .good)
        report.file = new
        report.style.sectionKind = "schema"
        report.sections = [
            Report.Section(
                name: new,
                columns: ["version", "verdict", .number("changes"), .number("breaking"), .number("accepted")],
                findings: reports.map(finding))
        ]
        report.reports = failing.map { ($0.old, DiffResult($0).report) }
        report.notes = notes
        return report
    }

    private func finding(_ found: DiffReport) -> Report.Finding {
        let level = found.hasFailed ? .error : (found.verdict ?? .nonBreaking).level
        let word = found.verdict?.word ?? "unchanged"
        let accepted = found.changes.count { found.acceptance(of: $0) != nil }
        return Report.Finding(
            level: level, isFailure: found.hasFailed, code: word, subject: found.old, message: found.headline,
            cells: [
                .code(found.old), Report.Cell(word, level: level), .count(found.changes.count),
                .count(found.count(of: .breaking)), .count(accepted),
            ])
    }
}
