import BSON
import Checking
import Concurrency
package import Inferring
import ServerSchema

/// The result of `schema infer`, in every output format.
package struct InferResult: Reportable {
    let found: InferReport

    package init(_ report: InferReport) { found = report }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        let (headline, level) = found.headline
        var report = Report(command: "schema infer", title: found.source, headline: headline, level: level)
        report.figures.facts = [
            Report.Fact(
                name: "documents read", value: found.collections.reduce(0) { $0 + $1.outcome.checked }.grouped),
            Report.Fact(
                name: "do not fit", value: found.collections.reduce(0) { $0 + $1.outcome.failing }.grouped),
            Report.Fact(name: "took", value: "\(found.duration.seconds.inTenths) s"),
        ]
        report.sections = found.collections.map(section)
        report.tables = found.collections.map { table($0.inference) }
        report.notes = found.notes
        let read = found.collections.reduce(0) { $0 + $1.inference.documents }
        report.figures.footer = "\(read.documents) of \(found.source) read in \(found.duration.seconds.inTenths) s."
        return report
    }

    private func section(_ collection: InferReport.Collection) -> Report.Section {
        let namespace = collection.inference.namespace
        let checked = CheckReport.Collection(namespace: namespace, counts: DocumentCounts())
        return Report.Section(
            name: "\(namespace)", summary: summary(collection),
            columns: ViolationGroupWords.columns(hasNew: false),
            findings: collection.outcome.groups.filter { $0.violation.level >= .possible }.map {
                var finding = ViolationGroupWords($0, of: checked, ids: .hidden).finding(
                    isFailure: !collection.outcome.isWithinCover)
                // The finding's mongosh command is left out, because the filter in the command may contain a value of a
                // document.
                finding.commands = []
                return finding
            }, remarks: remarks(collection))
    }

    /// Returns how many documents of a collection were read, and how many of them do not fit the inferred schema.
    private func summary(_ collection: InferReport.Collection) -> String {
        let outcome = collection.outcome
        let sample = collection.sampleSize == nil ? "" : ", taken at random"
        let cover = Share(found.options.cover).text
        let possible = outcome.possible > 0 ? ", \(outcome.possible.grouped) of the others might not fit" : ""
        let start = "\(outcome.checked.documents) read\(sample)"
        let fits = outcome.failing == 1 ? "does not fit" : "do not fit"
        guard outcome.isWithinCover else {
            return "\(start), \(outcome.failing.grouped) \(fits), more than --cover \(cover) allows\(possible)"
        }
        if outcome.failing == 0 { return "\(start), all fit the schema\(possible)" }
        let share = Share(outcome.failing, of: outcome.checked).text
        return "\(start), \(outcome.failing.grouped) \(fits) the schema (\(share), cover \(cover))\(possible)"
    }

    /// Returns sentences that follow the findings of a collection, such as how many other documents might not fit.
    private func remarks(_ collection: InferReport.Collection) -> [String] {
        let (outcome, held) = (collection.outcome, collection.outcome.heldOut)
        let bound =
            "At most \(Share(outcome.unseenBound).text) of other documents like these will not fit "
            + "(\(Int(Outcome.confidence * 100))% confidence: of \(held.documents.documents) held out, "
            + "\(held.failing.grouped) did not fit a schema of the rest)."
        guard collection.inference.isCrowded else { return [bound] }
        return [bound, "There are too many paths to tell apart: objects with many keys are shown as dictionaries."]
    }

    /// Returns a table with a row per field path.
    private func table(_ inference: Inference) -> Report.Table {
        let titles = ["types", "schema", "remarks"] + (found.options.hasEnums ? ["values"] : [])
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
                    + (cells + (found.options.hasEnums ? [values] : [])).map { Report.Cell($0) }
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
    /// The headline, and its level.
    ///
    /// The headline has the number of proposed schemas, and the number of documents that do not fit them. If no schema
    /// accepts as many documents as `--cover` requires, the headline says so instead.
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
