package import Partners

/// Reports on partners as JSON: one object each, with its keys in a fixed order.
package enum PartnerJSON {
    /// The version of the format, which changes only if a reader of an old format would misread the new one.
    package static var schemaVersion: Int { 1 }

    /// Returns the result of a comparison of the two sides of a partner.
    package static func render(_ comparison: PartnerComparison, ids: IDDisplay = .shown) -> String {
        let differences = comparison.differences.map { difference in
            ReportValue.object([
                ("_id", ids.json(difference.id)), ("kind", .string(kind(difference.kind))),
                ("from", .string("\(difference.kind.side == .source ? comparison.source : comparison.target)")),
                ("fields", .array(fields(difference.kind).map { .string($0) })),
                ("description", .string(PartnerText.words(difference.kind, comparison))),
            ])
        }
        return ReportValue.object(
            head("partner verify") + [
                ("partner", .string(comparison.name)), ("source", .string("\(comparison.source)")),
                ("target", .string("\(comparison.target)")), ("originals", .integer(comparison.originals)),
                ("partners", .integer(comparison.partners)), ("rechecked", .integer(comparison.rechecked)),
                ("cluster_time", comparison.time.map { .string("\($0)") } ?? .null),
                ("difference_count", .integer(comparison.count)), ("differences", .array(differences)),
                ("duration_ms", .integer(Int(comparison.seconds * 1_000))),
            ]
        ).text() + "\n"
    }

    /// Returns the result of creating a partner; if there is no report, the plan.
    package static func render(_ plan: PartnerPlan, _ report: PartnerReport?, ids: IDDisplay = .shown) -> String {
        let refusals = report.map(\.refusals).flatMap { $0.count > 0 ? $0 : nil } ?? plan.refusals
        return ReportValue.object(
            head("partner init") + [
                ("partner", .string(plan.name)), ("source", .string("\(plan.source)")),
                ("target", .string("\(plan.target)")), ("documents", .integer(plan.documents)),
                ("copied", .integer(report?.copied ?? 0)),
                ("copied_before", .integer(report?.copiedBefore ?? plan.copiedBefore ?? 0)),
                ("stopped", report?.stopped.map { .string($0) } ?? .null),
                ("refused_count", .integer(refusals.count)),
                (
                    "refused",
                    .array(
                        refusals.samples.map { refusal in
                            .object([("_id", ids.json(refusal.id)), ("reason", .string("\(refusal.reason)"))])
                        })
                ), ("clashes", .array(plan.clashes.map { .string($0) })), ("unsyncable", .integer(plan.failing)),
                ("indexes", .array(plan.indexes.map { .string($0) })),
                ("notes", .array((plan.notes + (report?.notes ?? [])).map { .string($0) })),
                ("duration_ms", .integer(Int((report?.seconds ?? 0) * 1_000))),
            ]
        ).text() + "\n"
    }

    static func head(_ command: String) -> [(String, ReportValue)] {
        JSONReport.head(command, version: schemaVersion)
    }

    private static func kind(_ kind: PairDifference.Kind) -> String {
        switch kind {
        case .missingInTarget: "missing-in-target"
        case .missingInSource: "missing-in-source"
        case .differing: "differing"
        case .refused: "refused"
        }
    }

    private static func fields(_ kind: PairDifference.Kind) -> [String] {
        if case .differing(let fields) = kind { fields } else { [] }
    }
}
