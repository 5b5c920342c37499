import BSON
import Checking
package import Enforcing
import JobState

/// The result of a run of `enforce`, in every output format.
package struct EnforceResult: Reportable {
    private let found: EnforcementReport
    private let check: CheckResult?
    private let checkJSON: JSONReport?

    /// - Parameters:
    ///   - ids: how `_id`s are shown.
    ///   - showsFilters: whether a terminal shows the filter of each violation group, as a file always does.
    package init(_ report: EnforcementReport, ids: IDDisplay = .shown, showsFilters: Bool = false) {
        found = report
        check = report.check.map { CheckResult($0, policy: FailurePolicy(), ids: ids, showsFilters: showsFilters) }
        checkJSON = check?.json
    }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        var lines = [headline(layout)]
        lines.append("  before  \(Enforcement.words(of: found.before))")
        if found.outcome != .aborted { lines.append("  now     \(Enforcement.words(of: found.now))") }
        if let mark = found.mark { lines.append("  last    \(mark)") }
        lines += commands("done", found.done) + commands("to come", found.toCome)
        lines += layout.notes(found.notes).flatMap { "note: \($0)".wrapped(to: layout.width, indent: 2) }
        // The first line already says that every document fits, so a check without findings is not shown.
        guard let check, found.notFitting != 0 else { return lines.asLines + "\n" }
        return lines.asLines + "\n\n" + check.findings(layout) + "\n"
    }

    private func headline(_ layout: TextLayout) -> String {
        let text = EnforceWords.headline(found).printable
        return Paint(isOn: layout.isColored)(level, text)
    }

    private func commands(_ title: String, _ commands: [BSONDocument]) -> [String] {
        commands.map { "  \(title): \(EnforceWords.command($0, of: found.namespace).printable)" }
    }

    private var level: Report.Level {
        switch found.outcome {
        case .notFitting: .error
        case .dryRun, .status: (found.notFitting ?? 0) > 0 ? .error : .notice
        case .done, .aborted: .good
        }
    }

    /// The result as JSON.
    package var json: JSONReport {
        func texts(_ commands: [BSONDocument]) -> ReportValue { .array(commands.map { .extended(.object($0)) }) }
        func validation(_ validation: Validation) -> ReportValue {
            .object([
                ("validator", validation.validator.isEmpty ? .null : .extended(.object(validation.validator))),
                ("level", .string(validation.level)), ("action", .string(validation.action)),
                ("prepared", .bool(validation.isPrepared)),
            ])
        }
        return JSONReport(
            "enforce",
            [
                ("database", .string(found.namespace.database)), ("collection", .string(found.namespace.collection)),
                ("outcome", .string(found.outcome.rawValue)), ("stage", .string(found.stage.rawValue)),
                ("target", .string(found.target.rawValue)), ("before", validation(found.before)),
                ("now", validation(found.now)), ("done", texts(found.done)), ("to_come", texts(found.toCome)),
                ("documents", found.check.map { .integer($0.readCount) } ?? .null),
                ("not_fitting_documents", found.notFitting.map { .integer($0) } ?? .null),
                ("check", checkJSON?.value ?? .null), ("notes", .array(found.notes.map { .string($0) })),
            ])
    }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        var report = Report(
            command: "enforce", title: "The validator of \(found.namespace)", headline: EnforceWords.headline(found),
            level: level)
        if let check = check?.report {
            (report.facts, report.charts, report.sections) = (check.facts, check.charts, check.sections)
            report.notes = check.notes
        }
        report.facts.insert(Report.Fact(name: "stage", value: found.stage.rawValue), at: 0)
        let rows = [("done", found.done), ("to come", found.toCome)].flatMap { title, commands in
            commands.map {
                [Report.Cell(title), Report.Cell(EnforceWords.command($0, of: found.namespace), isCode: true)]
            }
        }
        report.tables = [
            Report.Table(
                title: "The commands, in mongosh",
                columns: [Report.Column(title: "when"), Report.Column(title: "command")], rows: rows)
        ].filter { !$0.rows.isEmpty }
        report.notes += found.notes
        return report
    }
}
