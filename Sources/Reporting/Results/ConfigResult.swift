/// The settings, in every output format, each with its value and its source.
package struct ConfigResult: Reportable {
    /// A setting with its value and its source: a flag, an environment variable, a line of the configuration file, or
    /// the default.
    package struct Row: Sendable {
        let name: String
        let value: String?
        let source: String?

        /// Creates a row; `value` and `source` are `nil` for a setting that is not set.
        package init(name: String, value: String?, source: String?) {
            (self.name, self.value, self.source) = (name, value, source)
        }
    }

    private let file: String?
    private let environment: String?
    private let environments: [(name: String, isProtected: Bool)]
    private let rows: [Row]

    package init(
        file: String?, environment: String?, environments: [(name: String, isProtected: Bool)], rows: [Row]
    ) {
        (self.file, self.environment, self.environments, self.rows) = (file, environment, environments, rows)
    }

    package var json: JSONReport {
        JSONReport(
            "doctor settings",
            [
                "file": file, "environment": environment,
                "environments": environments.map { ["name": $0.name, "protected": $0.isProtected] as ReportValue },
                "settings": rows.map { ["name": $0.name, "value": $0.value, "from": $0.source] as ReportValue },
            ])
    }

    package var report: Report {
        var report = Report(
            command: "doctor settings", title: "The settings",
            headline: "configuration: \(file ?? "none: there is no shipshape.yml in the working folder")",
            level: .notice)
        let names = environments.map { $0.name + ($0.isProtected ? " (protected)" : "") }
        if !names.isEmpty {
            report.lines = ["environment: \(environment ?? "none") of \(names.joined(separator: ", "))"]
        }
        report.tables = [
            Report.Table(
                title: "Settings", columns: ["setting", "value", "from"],
                rows: rows.map { row in [row.name, row.value ?? "-", row.source ?? "-"].map { Report.Cell($0) } })
        ]
        return report
    }
}
