import BSON
import TextTable

/// The report of `shipshape config`: each setting with its value and where the value comes from.
package struct ConfigReport: Sendable {
    /// A setting with its value and its source: a flag, an environment variable, a line of the file or the default.
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

    /// Creates the report.
    package init(
        file: String?, environment: String?, environments: [(name: String, isProtected: Bool)], rows: [Row]
    ) {
        (self.file, self.environment, self.environments, self.rows) = (file, environment, environments, rows)
    }

    /// Returns the report as text.
    /// - Parameter width: the width of the terminal in columns; `nil` for no limit.
    package func text(width: Int?) -> String {
        let table = Report.Table(
            title: "Settings", columns: ["setting", "value", "from"].map { Report.Column(title: $0) },
            rows: rows.map { row in [row.name, row.value ?? "-", row.source ?? "-"].map { Report.Cell($0) } })
        let names = environments.map { $0.name.printable + ($0.isProtected ? " (protected)" : "") }
        let head =
            ["configuration: \(file?.printable ?? "none: there is no shipshape.yml in the working folder")"]
            + (names.isEmpty
                ? [] : ["environment: \(environment?.printable ?? "none") of \(names.joined(separator: ", "))"])
        return (head + [""] + TextTable.lines(of: table, width: width, indent: 0)).joined(separator: "\n")
    }

    /// The report as JSON.
    package var json: String {
        let environments = environments.map { environment in
            ReportValue.object([
                ("name", .string(environment.name)), ("protected", .bool(environment.isProtected)),
            ])
        }
        let settings = rows.map { row in
            ReportValue.object([
                ("name", .string(row.name)), ("value", row.value.map { .string($0) } ?? .null),
                ("from", row.source.map { .string($0) } ?? .null),
            ])
        }
        return JSONReport(
            "config",
            [
                ("file", file.map { .string($0) } ?? .null),
                ("environment", environment.map { .string($0) } ?? .null), ("environments", .array(environments)),
                ("settings", .array(settings)),
            ]
        ).text
    }
}
