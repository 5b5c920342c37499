import BSON
import Checking
import Concurrency
package import Inferring
import ServerSchema

/// The result of `schema infer`, in every output format.
extension InferReport: Reportable {
    package var json: JSONReport {
        JSONReport(
            "schema infer",
            [
                "dialect": options.dialect.rawValue, "source": source,
                "cover": ReportValue.share(options.cover), "strict": options.isStrict,
                "duration_ms": Int(duration.milliseconds), "collections": collections.map(collection),
                "notes": notes, "within_cover": isWithinCover,
            ])
    }

    private func collection(_ collection: InferReport.Collection) -> ReportValue {
        let (inference, outcome) = (collection.inference, collection.outcome)
        return [
            "database": inference.namespace.database, "collection": inference.namespace.collection,
            "documents_read": outcome.checked, "sample": collection.sampleSize,
            "filter": collection.filter, "failing": outcome.failing, "possible": outcome.possible,
            "within_cover": outcome.isWithinCover,
            "others": [
                "failing_share_at_most": ReportValue.share(outcome.unseenBound),
                "confidence": ReportValue.share(Outcome.confidence),
                "held_out": outcome.heldOut.documents, "held_out_failing": outcome.heldOut.failing,
            ] as ReportValue,
            "not_fitting": outcome.groups.filter { $0.violation.level >= .possible }.map(group),
            "paths_folded": inference.isCrowded, "paths": inference.paths.map(path),
            "schema": inference.prisma?.text.reportValue ?? SchemaFileText(inference.schema).json,
        ]
    }

    private func group(_ group: ViolationGroup) -> ReportValue {
        let violation = group.violation
        return [
            "path": "\(violation.path)", "rule": "\(violation.rule)", "level": "\(violation.level)",
            "expected": violation.expected, "found": violation.found, "documents": group.count,
        ]
    }

    private func path(_ row: PathSummary) -> ReportValue {
        let members: ReportValue = [
            "path": "\(row.path)", "values": row.values, "present": row.presence?.count,
            "objects": row.presence?.of, "nulls": row.nulls,
            "types": ReportValue.object(row.types.map { ($0.type.rawValue, .integer($0.count)) }),
            "longest_array": row.longestArray, "declared": row.declared.map(\.rawValue), "required": row.isRequired,
            "dictionary": row.isDictionary, "suspicions": row.suspicions.map(\.rawValue),
        ]
        return options.hasEnums ? members + ["enum": row.candidates] : members
    }

    package var report: Report {
        let (headline, level) = headline
        var report = Report(command: "schema infer", title: source, headline: headline, level: level)
        report.figures.facts = [
            Report.Fact("documents read", collections.reduce(0) { $0 + $1.outcome.checked }),
            Report.Fact("do not fit", failing), .seconds("took", duration.seconds),
        ]
        report.sections = collections.map(section)
        report.tables = collections.map { table($0.inference) }
        report.notes = notes
        let read = collections.reduce(0) { $0 + $1.inference.documents }
        report.figures.footer = "\(read.documents) of \(source) read in \(duration.seconds.inTenths) s."
        return report
    }

    private func section(_ collection: InferReport.Collection) -> Report.Section {
        let namespace = collection.inference.namespace
        let checked = CheckReport.Collection(namespace: namespace, counts: DocumentCounts())
        let groups = collection.outcome.groups.filter { $0.violation.level >= .possible }
        return Report.Section(
            name: "\(namespace)", summary: summary(collection),
            columns: ViolationGroupWords.columns(of: checked, hasLevel: groups.haveLevels),
            findings: groups.map {
                var finding = ViolationGroupWords($0, of: checked, ids: .hidden).finding(
                    isFailure: !collection.outcome.isWithinCover, hasLevel: groups.haveLevels)
                // The finding's filter is left out, because it may contain a value of a document.
                finding.filters = []
                return finding
            }, remarks: remarks(collection))
    }

    /// Returns how many documents of a collection were read, and how many of them do not fit the inferred schema.
    private func summary(_ collection: InferReport.Collection) -> String {
        let outcome = collection.outcome
        let sample = collection.sampleSize == nil ? "" : ", taken at random"
        let cover = Share(options.cover).text
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
            "Of new documents of this kind, at most \(Share(outcome.unseenBound).text) will not fit (with "
            + "\(Int(Outcome.confidence * 100))% certainty: \(held.failing.grouped) of \(held.documents.documents) did "
            + "not fit a schema of the others)."
        guard collection.inference.isCrowded else { return [bound] }
        return [bound, "There are too many paths to tell apart: objects with many keys are shown as dictionaries."]
    }

    private func table(_ inference: Inference) -> Report.Table {
        let titles = ["types", "schema", "remarks"] + (options.hasEnums ? ["values"] : [])
        return Report.Table(
            title: "Paths of \(inference.namespace)",
            columns: ["path", .number("present")] + titles.map { Report.Column(title: $0) },
            rows: inference.paths.map { row in
                let values = row.candidates.map { $0.map(\.shellText).joined(separator: ", ") } ?? ""
                let cells = [
                    presence(row), types(row), declared(row), row.suspicions.map(\.rawValue).joined(separator: ", "),
                ]
                return [.code("\(row.path)")] + (cells + (options.hasEnums ? [values] : [])).map { Report.Cell($0) }
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

    private var failing: Int { collections.reduce(0) { $0 + $1.outcome.failing } }

    private var headline: (text: String, level: Report.Level) {
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

extension ReportValue {
    fileprivate static func share(_ part: Double) -> ReportValue { .extended(.double(part)) }
}
