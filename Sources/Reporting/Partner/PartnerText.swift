import BSON
import Concurrency
package import Partners

/// Reports on partners as text.
package enum PartnerText {
    /// Returns what creating a partner would do, in words.
    package static func render(_ plan: PartnerPlan, ids: IDDisplay = .shown, hidesNotes: Bool = false) -> String {
        var lines = ["partner \(plan.name): \(plan.source) → \(plan.target)"]
        if let copied = plan.copiedBefore {
            lines.append(
                plan.isDone
                    ? "  copied already: \(copied.documents)"
                    : "  continues after \(copied.documents) that earlier runs copied")
            return lines.joined(separator: "\n")
        }
        lines.append("  about \(plan.documents.documents) to copy")
        if !plan.indexes.isEmpty { lines.append("  indexes: \(plan.indexes.joined(separator: ", "))") }
        if let headroom = plan.headroom {
            lines.append("  \(plan.failing.grouped) of them would not sync (\(headroom))")
        } else if plan.failing > 0 {
            lines.append("  \(plan.failing.grouped) of them would not fit the partner's schema")
        }
        if !hidesNotes { lines += plan.notes.map { "  \($0)" } }
        lines += refusals(plan.refusals, "cannot be carried over without loss", ids)
        lines += plan.clashes.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Returns what creating a partner has done, in words.
    package static func render(_ report: PartnerReport, ids: IDDisplay = .shown, hidesNotes: Bool = false) -> String {
        let earlier = report.copiedBefore > 0 ? ", after \(report.copiedBefore.grouped) of earlier runs" : ""
        let time = Duration.milliseconds(Int64(report.seconds * 1_000)).rounded
        var lines = ["\(report.copied.documents) copied to \(report.target)\(earlier), \(time)"]
        if let stopped = report.stopped { lines.append("  stopped by \(stopped): run it again to continue") }
        lines += refusals(report.refusals, "could not be carried over", ids)
        if !hidesNotes { lines += report.notes.map { "  \($0)" } }
        return lines.joined(separator: "\n")
    }

    private static func refusals(_ list: RefusalList, _ what: String, _ ids: IDDisplay) -> [String] {
        guard list.count > 0 else { return [] }
        var lines = ["  \(list.count.documents) \(what):"]
        for (reason, count) in list.reasons.sorted(by: { ($0.value, "\($1.key)") > ($1.value, "\($0.key)") }) {
            let samples = list.samples.filter { $0.reason == reason }.prefix(5).compactMap { ids.text($0.id) }
            let such = samples.isEmpty ? "" : ", such as _id \(samples.joined(separator: ", "))"
            lines.append("    \(count.grouped): \(reason)\(such)")
        }
        return lines
    }

    /// Returns the result of a comparison of the two sides of a partner.
    package static func render(_ comparison: PartnerComparison, ids: IDDisplay = .shown) -> String {
        let time = comparison.time.map { ", at \($0)" } ?? ""
        var lines = [
            comparison.count == 0
                ? "0 differences: \(comparison.source) and \(comparison.target) match"
                : "\(comparison.count.counted("difference")) between \(comparison.source) and \(comparison.target)",
            "  \(comparison.originals.documents) of the original, \(comparison.partners.grouped) of the partner; "
                + "\(comparison.rechecked.counted("pair")) compared again\(time)",
        ]
        for difference in comparison.differences.prefix(50) {
            lines.append("  _id \(ids.text(difference.id) ?? "(hidden)"): \(words(difference.kind, comparison))")
        }
        if comparison.count > min(50, comparison.differences.count) {
            lines.append("  and \((comparison.count - min(50, comparison.differences.count)).grouped) more")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns in words how a document differs from the one on the other side.
    static func words(_ kind: PairDifference.Kind, _ comparison: PartnerComparison) -> String {
        switch kind {
        case .missingInTarget: "\(comparison.source) → \(comparison.target): the partner lacks it"
        case .missingInSource: "\(comparison.target) → \(comparison.source): the original lacks it"
        case .differing(let fields):
            "\(comparison.source) → \(comparison.target): differs in \(fields.joined(separator: ", "))"
        case .refused(.source, let reason): "\(comparison.source) → \(comparison.target): \(reason)"
        case .refused(.target, let reason): "\(comparison.target) → \(comparison.source): \(reason)"
        }
    }
}

extension Duration {
    /// The duration in seconds, with one decimal place.
    fileprivate var rounded: String { "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s" }
}
