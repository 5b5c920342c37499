import BSON
package import SchemaChange
import ServerSchema

/// The changes between two schemas, in every output format.
package struct DiffResult: Reportable {
    let found: DiffReport

    package init(_ report: DiffReport) { found = report }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        var report = Report(
            command: "diff", title: "Schema changes from \(found.old) to \(found.new)", headline: found.headline,
            level: (found.verdict ?? .nonBreaking).level)
        report.file = found.new
        report.figures.facts = SchemaChange.Verdict.gravestFirst.map {
            Report.Fact(name: $0.word, value: found.count(of: $0).grouped)
        }
        report.figures.charts = [chart]
        report.sections = found.groups(of: found.listed).map {
            Report.Section(name: $0.name, columns: columns, findings: $0.changes.map(finding))
        }
        if !found.hints.isEmpty { report.sections.append(hints) }
        (report.notes, report.warnings) = (found.notes, found.omission)
        return report
    }

    private var columns: [Report.Column] {
        [found.dialect.sides.server, "\(found.dialect.sides.client)s", "change", "rule"].map {
            Report.Column(title: $0)
        }
            + (found.weights == nil ? [] : [Report.Column(title: "documents")])
            + [Report.Column(title: "what to do", isAdvice: true)]
    }

    private func finding(_ index: Int) -> Report.Finding {
        let change = found.changes[index]
        let weight = found.weight(index)
        let acceptance = found.acceptance(of: change)
        let order = WorkOrder(of: change.kind, in: found.dialect)
        let page = order.isFree ? [] : ["Order of work: shipshape explain \(order.rawValue)."]
        let hint = found.hint(for: change).map { "If it is a rename, add to shipshape.yml: \(Self.line(for: $0))" }
        return Report.Finding(
            level: acceptance == nil ? change.kind.verdict.level : .notice, isFailure: found.fails(change),
            code: change.code.rawValue,
            subject: "\(change.path)", place: change.place, fingerprint: change.fingerprint,
            acceptance: acceptance?.reason,
            message: "\(change.description) (\(found.dialect.sides.server): \(change.server.word), "
                + "\(found.dialect.sides.client)s: \(change.client.word))",
            details: [change.kind.consequenceWords].filter { !$0.isEmpty } + page
                + ["Source: \(change.kind.source.words)."]
                + [found.acceptanceWords(of: change)].compactMap { $0.map { "\($0)." } },
            asides: [weight.map { "\($0)." }, hint, change.kind.advice].compactMap(\.self),
            cells: [
                Report.Cell(change.server.word, level: change.server.level),
                Report.Cell(change.client.word, level: change.client.level), Report.Cell(change.description),
                Report.Cell(change.code.rawValue),
            ] + (found.weights == nil ? [] : [Report.Cell(weight ?? "")]) + [Report.Cell(change.kind.advice)])
    }

    /// A section of removals and additions that look like renames; they count as renames only if the user states them.
    private var hints: Report.Section {
        Report.Section(
            name: "Possible renames", summary: "A change counts as a rename only if you state it.",
            columns: [Report.Column(title: "reason")],
            findings: found.hints.map { hint in
                let subject = "\(hint.removed.description): \(hint.reason)"
                return Report.Finding(
                    level: .notice, isFailure: false, code: "looks like a rename", subject: "",
                    place: hint.added.place, message: subject,
                    asides: ["If it is a rename, add to shipshape.yml: \(Self.line(for: hint))"],
                    cells: [Report.Cell(subject)], commands: [Self.line(for: hint)])
            })
    }

    /// The line of `shipshape.yml` that states a rename.
    private static func line(for hint: RenameHint) -> String { "renames: [\(hint.rename.quotedAsYAML)]" }

    private var chart: Report.Chart {
        Report.Chart(
            title: "Changes, by collection", kind: "collection",
            bars: found.groups(of: found.changes.indices).map { name, indices in
                Report.Bar(
                    name: name,
                    amounts: SchemaChange.Verdict.gravestFirst.map { verdict in
                        Report.Amount(
                            name: verdict.word, value: indices.count { found.changes[$0].kind.verdict == verdict },
                            level: verdict.level)
                    })
            })
    }
}

extension SchemaChange.Verdict {
    fileprivate static let gravestFirst: [Self] = [.breaking, .versioned, .served, .nonBreaking]

    var level: Report.Level {
        switch self {
        case .breaking: .error
        case .versioned: .warning
        case .served, .nonBreaking: .good
        }
    }
}
