import BSON
package import Checking
import Concurrency
import ServerSchema

/// The report of a check of many databases that have the same schema, with a row per database.
package struct CheckMatrix: Reportable {
    package struct Entry: Sendable {
        let database: String
        /// The report of the check; `nil` if the database has none of the schema's collections.
        package let report: CheckReport?
        /// Which findings make the check fail.
        let policy: FailurePolicy

        package init(database: String, report: CheckReport?, policy: FailurePolicy) {
            (self.database, self.report, self.policy) = (database, report, policy)
        }

        var hasFailed: Bool { report.map { policy.fails($0) || $0.wrongCount > 0 } ?? false }
    }

    private let pattern: String
    private let source: String
    private let entries: [Entry]
    private let added: [String]
    private let ids: IDDisplay
    private let showsFilters: Bool
    private let duration: Duration
    private let places: SchemaPlaces?

    /// Creates the report from the checks of the databases.
    /// - Parameters:
    ///   - added: databases that match the pattern and were created during the check.
    ///   - places: the positions in the schema's files at which the report shows findings; `nil` if the schema has no
    ///     files.
    package init(
        _ pattern: String, of source: String, _ entries: [Entry], added: [String],
        ids: IDDisplay, showsFilters: Bool, duration: Duration, places: SchemaPlaces? = nil
    ) {
        (self.pattern, self.source, self.entries, self.added) = (pattern, source, entries, added)
        (self.ids, self.showsFilters, self.duration, self.places) = (ids, showsFilters, duration, places)
    }

    /// Whether at least one of the databases fails the check.
    package var hasFailed: Bool { entries.contains(where: \.hasFailed) }

    private func isSafe(_ entry: Entry) -> Bool { entry.report?.isSafe ?? true }

    private var headline: (text: String, level: Report.Level) {
        let all = entries.count.counted("database")
        let failing = entries.count(where: \.hasFailed)
        if failing > 0 {
            return ("\(failing.grouped) of \(all) \(failing == 1 ? "fails" : "fail") the check.", .error)
        }
        let open = entries.count { !isSafe($0) }
        if open > 0 {
            let are = open == 1 ? "is" : "are"
            return ("No failure in \(all), but \(open.grouped) \(are) not known to be safe.", .warning)
        }
        if !added.isEmpty { return ("No failure in \(all), but others were created during the check.", .warning) }
        return ("Safe to deploy: all \(all).", .good)
    }

    /// The columns of the table after the one with the database's name.
    private var columns: [Report.Column] {
        let words = entries.lazy.compactMap(\.report?.words).first ?? .appServices
        return [
            "verdict", .number("documents"), .number(words.failing(2)), .number("newly failing"),
            .number(words.possiblyFailing),
        ]
    }

    private func cells(_ entry: Entry) -> [Report.Cell] {
        let name = Report.Cell.code(entry.database)
        guard let report = entry.report else {
            return [name, Report.Cell("empty", level: .notice)] + columns.dropFirst().map { _ in "" }
        }
        let total = report.total
        let (_, level) = report.headline(ids: ids)
        return [
            name, Report.Cell(report.isSafe ? "safe" : entry.hasFailed ? "unsafe" : "unknown", level: level),
            .count(report.readCount), .count(total.certain),
            Report.Cell(total.changes?.newlyFailing.grouped ?? "-"), .count(total.possible),
        ]
    }

    package var json: JSONReport {
        JSONReport(
            "check databases",
            [
                "source": source, "pattern": pattern, "duration_ms": Int(duration.milliseconds),
                "databases": entries.map { entry in
                    [
                        "database": entry.database, "fails": entry.hasFailed, "safe": isSafe(entry),
                        "report": entry.report.map { CheckReportJSON($0, ids: ids).json.value },
                    ] as ReportValue
                },
                "added": added,
                "verdict": [
                    "safe": added.isEmpty && entries.allSatisfy(isSafe),
                    "failing": entries.filter(\.hasFailed).map(\.database),
                ] as ReportValue,
            ])
    }

    package var report: Report {
        let (text, level) = headline
        var report = Report(command: "check", title: "\(pattern) on \(source)", headline: text, level: level)
        report.file = places?.file
        report.sections = [
            Report.Section(
                name: pattern, columns: ["database"] + columns,
                findings: entries.map { entry in
                    let found = entry.report?.headline(ids: ids)
                    return Report.Finding(
                        level: found?.level ?? .notice, isFailure: entry.hasFailed,
                        code: entry.report?.bandName ?? "empty", subject: entry.database,
                        message: "\(entry.database): \(found?.text ?? "it has none of the schema's collections")",
                        cells: cells(entry))
                })
        ]
        for entry in entries where entry.hasFailed {
            guard let found = entry.report else { continue }
            let check = CheckResult(found, policy: entry.policy, ids: ids, showsFilters: showsFilters)
            report.reports.append((entry.database, check.report))
        }
        if !added.isEmpty {
            report.warnings = ["created during the check, and not checked: \(added.joined(separator: ", "))"]
        }
        let databases = entries.count.counted("database")
        report.figures.footer = "\(databases) of \(source) checked in \(duration.seconds.inTenths) s."
        return report
    }
}
