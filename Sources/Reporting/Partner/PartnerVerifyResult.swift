import BSON
package import Partners

/// The differences between an original collection and its partner collection, in every output format.
package struct PartnerVerifyResult: Reportable {
    private let found: PartnerComparison
    private let ids: IDDisplay
    private let next: [String]

    /// Wraps a comparison of an original collection with its partner collection.
    /// - Parameter next: lines that propose the next command, shown only if the two collections do not differ.
    package init(_ comparison: PartnerComparison, ids: IDDisplay = .shown, next: [String] = []) {
        (found, self.ids, self.next) = (comparison, ids, next)
    }

    package var json: JSONReport {
        JSONReport(
            "partner verify",
            [
                "partner": found.name, "source": "\(found.source)", "target": "\(found.target)",
                "originals": found.originals, "partners": found.partners, "rechecked": found.rechecked,
                "cluster_time": found.time.map { "\($0)" }, "difference_count": found.count,
                "differences": found.differences.map { difference in
                    [
                        "_id": ids.json(difference.id), "kind": difference.kind.code,
                        "from": "\(difference.kind.side == .source ? found.source : found.target)",
                        "fields": difference.kind.fields, "description": description(difference),
                    ] as ReportValue
                },
                "duration_ms": Int(found.seconds * 1_000),
            ])
    }

    package var report: Report {
        let isEqual = found.count == 0
        var report = Report(
            command: "partner verify", title: "Partner \(found.name): \(found.source) and \(found.target)",
            headline: isEqual
                ? "0 differences: \(found.source) and \(found.target) match"
                : "\(found.count.counted("difference")) between \(found.source) and \(found.target)",
            level: isEqual ? .good : .error)
        report.lines = [
            "\(found.originals.documents) of the original, \(found.partners.grouped) of the partner; "
                + found.rechecked.counted("pair") + " compared again" + (found.time.map { ", at \($0)" } ?? "")
        ]
        report.figures.facts = [
            ("originals", found.originals), ("partners", found.partners), ("compared again", found.rechecked),
            ("differences", found.count),
        ].map { Report.Fact($0, $1) }
        let shown = found.differences.prefix(Self.maximumShown)
        let more = found.count - shown.count
        report.sections = [
            Report.Section(
                name: "Differences", columns: ["_id", "difference"],
                findings: shown.map { difference in
                    let (id, description) = (ids.text(difference.id) ?? "(hidden)", description(difference))
                    return Report.Finding(
                        level: .error, isFailure: true, code: difference.kind.code, subject: id,
                        message: "_id \(id): \(description)",
                        cells: [.code(id), Report.Cell(description)])
                }, remarks: more > 0 ? ["and \(more.grouped) more"] : [])
        ].filter { !$0.findings.isEmpty }
        report.next = isEqual ? next : []
        return report
    }

    private static let maximumShown = 50

    private func description(_ difference: PairDifference) -> String {
        let (source, target) = (found.source, found.target)
        return switch difference.kind {
        case .missingInTarget: "\(source) → \(target): the partner lacks it"
        case .missingInSource: "\(target) → \(source): the original lacks it"
        case .differing(let fields): "\(source) → \(target): differs in \(fields.joined(separator: ", "))"
        case .refused(.source, let reason): "\(source) → \(target): \(reason)"
        case .refused(.target, let reason): "\(target) → \(source): \(reason)"
        }
    }
}

extension PairDifference.Kind {
    fileprivate var code: String {
        switch self {
        case .missingInTarget: "missing-in-target"
        case .missingInSource: "missing-in-source"
        case .differing: "differing"
        case .refused: "refused"
        }
    }

    fileprivate var fields: [String] { if case .differing(let fields) = self { fields } else { [] } }
}
