import BSON
package import SchemaChange
import ServerSchema

/// The changes between two schemas, in every output format.
package struct DiffResult: Reportable {
    let found: DiffReport

    package init(_ report: DiffReport) { found = report }

    package var json: JSONReport {
        JSONReport(
            "diff",
            [
                "dialect": found.dialect.rawValue, "old": found.old, "new": found.new, "source": found.source,
                "changes": found.listed.map(change),
                "hints": found.hints.map(hint), "notes": found.notes + found.omission, "verdict": verdict,
            ])
    }

    private func change(_ index: Int) -> ReportValue {
        let change = found.changes[index]
        return [
            "code": change.code.rawValue, "verdict": change.kind.verdict.rawValue, "server": change.server.rawValue,
            "client": change.client.rawValue, "database": change.namespace?.database,
            "collection": change.namespace?.collection, "path": "\(change.path)",
            "description": change.description, "old": side(change.old), "new": side(change.new),
            "consequences": change.kind.consequences.map(\.rawValue), "advice": change.kind.advice,
            "source": source(change.kind.source), "partner": change.partner.map(partner),
            "rename_hint": found.hint(for: change)?.rename, "documents": found.weights?[index].map(weight),
            "fails": found.fails(change), "exception": found.acceptance(of: change)?.json,
        ]
    }

    private func side(_ side: SchemaChange.Side?) -> ReportValue {
        guard let side else { return .null }
        let hasPlace = side.location.line > 0
        return [
            "database": side.namespace?.database, "collection": side.namespace?.collection,
            "path": "\(side.path)", "type": side.node?.expectation(asRoot: side.path.isRoot),
            "required": side.isRequired, "file": side.location.file, "line": hasPlace ? side.location.line : nil,
            "column": hasPlace ? side.location.column : nil,
        ]
    }

    private func partner(_ partner: PartnerCollection) -> ReportValue {
        let time: ServerTime? =
            switch partner.state {
            case .verified(let time), .cutOver(let time): time
            case .unverified: nil
            }
        return [
            "job": partner.name, "source": "\(partner.source)", "target": "\(partner.target)",
            "verified": time?.iso8601,
        ]
    }

    private func source(_ source: ChangeKind.Source) -> ReportValue {
        ["basis": source.basis.rawValue, "text": source.text, "quick_reference": source.quickReference]
    }

    private func weight(_ weight: ChangeWeight) -> ReportValue {
        [
            "total": weight.documents, "holding": weight.withField, "lacking": weight.withoutField,
            "refused": weight.refused,
            "types": ReportValue.object(weight.types.map { ($0.type, .integer($0.documents)) }),
        ]
    }

    private func hint(_ hint: RenameHint) -> ReportValue {
        ["rename": hint.rename, "reason": hint.reason]
    }

    private var verdict: ReportValue {
        [
            "worst": found.verdict?.rawValue, "changes": found.changes.count,
            "breaking": found.count(of: .breaking), "versioned": found.count(of: .versioned),
            "served": found.count(of: .served), "accepted": found.changes.count { found.acceptance(of: $0) != nil },
            "non_breaking": found.count(of: .nonBreaking),
            "consequences": found.consequences.map(\.rawValue), "fail_on": found.failOn.rawValue,
            "failed": found.hasFailed,
        ]
    }

    package var report: Report {
        var report = Report(
            command: "diff", title: "Schema changes from \(found.old) to \(found.new)", headline: found.headline,
            level: (found.verdict ?? .nonBreaking).level)
        report.file = found.new
        report.figures.facts = SchemaChange.Verdict.gravestFirst.map {
            Report.Fact($0.word, found.count(of: $0))
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
        let sides = ["\(found.dialect.sides.server)", "\(found.dialect.sides.client)s"].map { Report.Column(title: $0) }
        return sides + ["change", "rule"] + (found.weights == nil ? [] : ["documents"])
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
            code: change.code.rawValue, subject: "\(change.path)", place: change.place,
            fingerprint: change.fingerprint, acceptance: acceptance?.reason,
            message: "\(change.description) (\(found.dialect.sides.server): \(change.server.word), "
                + "\(found.dialect.sides.client)s: \(change.client.word))",
            details: [change.kind.consequenceWords].filter { !$0.isEmpty } + page
                + [found.acceptanceWords(of: change)].compactMap { $0.map { "\($0)." } },
            source: "Source: \(change.kind.source.words).",
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
            columns: ["reason"],
            findings: found.hints.map { hint in
                let subject = "\(hint.removed.description): \(hint.reason)"
                return Report.Finding(
                    level: .notice, code: "looks like a rename", place: hint.added.place, message: subject,
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
