import BSON
import Checking
import Concurrency
package import Inferring
import ServerSchema
import TextTable

/// The report of `infer` as text: for each collection how many documents fit, and a table of the field paths.
package struct InferReportText: Sendable {
    private let report: InferReport
    private let paint: Paint
    private let width: Int?

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The width of the terminal in columns; `nil` for a file, whose lines are not wrapped.
    package init(_ report: InferReport, isColored: Bool = false, width: Int? = nil) {
        self.report = report
        self.width = width
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    package var text: String {
        let (verdict, level) = report.headline
        let headline = [paint(level, verdict)].asLines
        var blocks = [headline] + report.collections.map(collection)
        if !report.notes.isEmpty { blocks.append(report.notes.map { "Note: \($0)" }.asLines) }
        let read = report.collections.reduce(0) { $0 + $1.inference.documents }
        blocks.append("\(read.documents) of \(report.source.printable) read in \(report.duration.seconds.inTenths) s.")
        return blocks.asReport(verdict: headline)
    }

    private func collection(_ collection: InferReport.Collection) -> String {
        var lines = [heading(collection)]
        lines += collection.outcome.groups.filter { $0.violation.level >= .possible }.map { group in
            let violation = group.violation
            return "  \(group.count.documents), \(violation.level): \(violation.rule) at "
                + "\("\(violation.path)".printable) (expected \(violation.expected), found \(violation.found))"
        }
        lines += remarks(collection).map { "  \($0)" }
        return (lines + TextTable.lines(of: table(collection.inference), width: width)).asLines
    }

    private func heading(_ collection: InferReport.Collection) -> String {
        let (outcome, start) = (collection.outcome, "\(paint.bold("\(collection.inference.namespace)".printable)): ")
        let level: Report.Level = !outcome.isWithinCover ? .error : outcome.failing == 0 ? .good : .notice
        return start + paint(level, summary(collection))
    }

    /// Returns how many documents of a collection were read, and how many fit the schema that was inferred for it.
    func summary(_ collection: InferReport.Collection) -> String {
        let outcome = collection.outcome
        let sample = collection.sampleSize == nil ? "" : ", taken at random"
        let cover = Share(report.options.cover).text
        let possible = outcome.possible > 0 ? ", \(outcome.possible.grouped) of the others might not sync" : ""
        let start = "\(outcome.checked.documents) read\(sample)"
        guard outcome.isWithinCover else {
            return "\(start), \(outcome.failing.grouped) do not fit, more than --cover \(cover) allows\(possible)"
        }
        if outcome.failing == 0 { return "\(start), all fit the schema\(possible)" }
        let share = Share(outcome.failing, of: outcome.checked).text
        return "\(start), \(outcome.failing.grouped) do not fit the schema (\(share), cover \(cover))\(possible)"
    }

    /// Returns sentences that follow the findings of a collection, such as how many other documents might not fit.
    func remarks(_ collection: InferReport.Collection) -> [String] {
        let (outcome, held) = (collection.outcome, collection.outcome.heldOut)
        let bound =
            "At most \(Share(outcome.unseenBound).text) of other documents like these will not fit "
            + "(\(Int(Outcome.confidence * 100))% confidence: of \(held.documents.documents) held out, "
            + "\(held.failing.grouped) did not fit a schema of the rest)."
        guard collection.inference.isCrowded else { return [bound] }
        return [bound, "There are too many paths to tell apart: objects with many keys are shown as dictionaries."]
    }

    /// Returns a table with a row per field path.
    func table(_ inference: Inference) -> Report.Table {
        let titles = ["types", "schema", "remarks"] + (report.options.hasEnums ? ["values"] : [])
        return Report.Table(
            title: "Paths of \(inference.namespace)",
            columns: [Report.Column(title: "path"), Report.Column(title: "present", isNumber: true)]
                + titles.map { Report.Column(title: $0) },
            rows: inference.paths.map { row in
                let values = row.candidates.map { $0.map { ShellLiteral.text($0) }.joined(separator: ", ") } ?? ""
                let cells = [
                    presence(row), types(row), declared(row), row.suspicions.map(\.rawValue).joined(separator: ", "),
                ]
                return [Report.Cell("\(row.path)", isCode: true)]
                    + (cells + (report.options.hasEnums ? [values] : [])).map { Report.Cell($0) }
            })
    }

    private func presence(_ row: PathSummary) -> String {
        row.presence.map { Share($0.count, of: $0.of).text } ?? "\(row.values.grouped) values"
    }

    private func types(_ row: PathSummary) -> String {
        if row.types.count == 1 { return row.types[0].type.rawValue }
        return row.types.map { "\($0.type.rawValue) \(Share($0.count, of: row.values).text)" }.joined(separator: ", ")
    }

    private func declared(_ row: PathSummary) -> String {
        guard !row.declared.isEmpty else { return "left out" }
        let types = row.declared.map(\.rawValue).joined(separator: " or ")
        return (row.isDictionary ? "dictionary" : types) + (row.isRequired ? ", required" : "")
    }
}

extension InferReport {
    /// A sentence on how many schemas are proposed and how many documents do not fit the schema of their collection,
    /// and its level.
    var headline: (text: String, level: Report.Level) {
        let failing = collections.reduce(0) { $0 + $1.outcome.failing }
        let verb = failing == 1 ? "does" : "do"
        guard isWithinCover else {
            return (
                "No schema accepts as many documents as --cover says: \(failing.documents) \(verb) not fit.", .error
            )
        }
        let schemas = "\(collections.count.counted("schema")) proposed"
        return failing == 0
            ? ("\(schemas): every document fits.", .good)
            : ("\(schemas): \(failing.documents) \(verb) not fit.", .warning)
    }
}
