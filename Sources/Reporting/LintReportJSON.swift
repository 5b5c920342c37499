import BSON
public import ServerSchema

/// A lint's report as JSON: one object with its keys in a fixed order, the counts last.
public struct LintReportJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    public static var schemaVersion: Int { 1 }

    private let report: LintReport

    /// Wraps a report.
    public init(_ report: LintReport) { self.report = report }

    /// The JSON text, indented, which ends with a line break.
    public var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "lint", version: Self.schemaVersion,
            [
                ("source", .string(report.source)),
                ("collections", .array(report.collections.map { .string($0.description) })),
                ("findings", .array(report.findings.map(finding))),
                ("counts", .object(LintFinding.Level.allCases.map { ($0.rawValue, .integer(report.count(of: $0))) })),
            ])
    }

    private func finding(_ finding: LintFinding) -> ReportValue {
        let hasPlace = finding.location.line > 0
        return .object([
            ("level", .string(finding.level.rawValue)),
            ("code", .string(finding.code.rawValue)),
            ("database", finding.namespace.map { .string($0.database) } ?? .null),
            ("collection", finding.namespace.map { .string($0.collection) } ?? .null),
            ("path", .string("\(finding.path)")),
            ("file", .string(finding.location.file)),
            ("line", hasPlace ? .integer(finding.location.line) : .null),
            ("column", hasPlace ? .integer(finding.location.column) : .null),
            ("message", .string(finding.message)),
            ("remedy", finding.remedy.map { .string($0) } ?? .null),
        ])
    }
}
