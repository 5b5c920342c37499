import BSON
import Checking
package import Enforcing
import JobState

/// The result of a run of `enforce`, in every output format.
package struct EnforceResult: Reportable {
    private let found: EnforcementReport
    private let check: CheckResult?

    /// Wraps the report of a run of `enforce`.
    /// - Parameter showsFilters: whether a terminal shows the filter of each violation group, as a file always does.
    package init(_ report: EnforcementReport, ids: IDDisplay = .shown, showsFilters: Bool = false) {
        found = report
        check = report.check.map { CheckResult($0, policy: FailurePolicy(), ids: ids, showsFilters: showsFilters) }
    }

    private var level: Report.Level {
        switch found.outcome {
        case .notFitting: .error
        case .dryRun, .status: (found.notFitting ?? 0) > 0 ? .error : .notice
        case .done, .aborted: .good
        }
    }

    package var json: JSONReport {
        func validation(_ validation: Validation) -> ReportValue {
            [
                "validator": validation.validator.isEmpty ? nil : validation.validator, "level": validation.level,
                "action": validation.action, "prepared": validation.isPrepared,
            ]
        }
        return JSONReport(
            "enforce",
            [
                "database": found.namespace.database, "collection": found.namespace.collection,
                "outcome": found.outcome.rawValue, "stage": found.stage.rawValue, "target": found.target.rawValue,
                "before": validation(found.before), "now": validation(found.now), "done": found.done,
                "to_come": found.toCome, "documents": found.check?.readCount,
                "not_fitting_documents": found.notFitting, "check": check?.json.value, "notes": found.notes,
            ])
    }

    package var report: Report {
        var report = Report(
            command: "enforce", title: "The validator of \(found.namespace)", headline: EnforceWords.headline(found),
            level: level)
        report.lines = ["before  \(Enforcement.words(of: found.before))"]
        if found.outcome != .aborted { report.lines.append("now     \(Enforcement.words(of: found.now))") }
        if let mark = found.mark { report.lines.append("last    \(mark)") }
        if let check = check?.report {
            (report.figures.facts, report.figures.charts) = (check.figures.facts, check.figures.charts)
            (report.sections, report.figures.footer, report.notes) = (
                check.sections, check.figures.footer, check.notes
            )
            report.style = check.style
        }
        report.figures.facts.insert(Report.Fact("stage", found.stage.rawValue), at: 0)
        let rows = [("done", found.done), ("to come", found.toCome)].flatMap { title, commands in
            commands.map { [Report.Cell(title), .code(EnforceWords.command($0, of: found.namespace))] }
        }
        report.tables = [Report.Table(title: "The commands, in mongosh", columns: ["when", "command"], rows: rows)]
        report.notes += found.notes
        return report
    }
}
