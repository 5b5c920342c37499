import BSON
import TextTable

/// Each setting with where it comes from.
package struct ConfigReport: Sendable {
    /// A setting.
    package struct Row: Sendable {
        let name: String
        let value: String?
        let source: String?

        /// Joins the parts; without a value nobody sets it.
        package init(name: String, value: String?, source: String?) {
            (self.name, self.value, self.source) = (name, value, source)
        }
    }

    private let file: String?
    private let environment: String?
    private let environments: [(name: String, isProtected: Bool)]
    private let rows: [Row]

    /// Joins the parts.
    package init(
        file: String?, environment: String?, environments: [(name: String, isProtected: Bool)], rows: [Row]
    ) {
        (self.file, self.environment, self.environments, self.rows) = (file, environment, environments, rows)
    }

    /// For a person.
    /// - Parameter width: the columns of a terminal; `nil` for as many as it takes.
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

    /// For machines.
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
