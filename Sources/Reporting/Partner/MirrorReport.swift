package import BSON
package import Partners

/// Shows the report of a mirror as text, JSON or metrics.
package enum MirrorReport {
    /// Returns the report as text.
    package static func text(_ outcome: MirrorOutcome, of name: String) -> String {
        let counts = outcome.counts
        var lines = [
            "partner \(name): \(counts.written.documents) carried over, of \(counts.changes.counted("change"))",
            "  \((counts.carried[.source] ?? 0).grouped) to the partner, "
                + "\((counts.carried[.target] ?? 0).grouped) to the original; "
                + "\(counts.echoes.grouped) changes were the mirror's own",
        ]
        if counts.delays != (0, 0) {
            lines.append(
                "  half of the changes took up to \(counts.delays.median.grouped) ms, 99% up to "
                    + "\(counts.delays.percentile99.grouped) ms")
        }
        if counts.conflicts > 0 {
            lines.append("  \(counts.conflicts.counted("pair")) had changed on both sides")
        }
        if counts.refused > 0 {
            lines.append("  \(counts.refused.documents) cannot be on the other side: partner status lists them")
        }
        if !outcome.isCaughtUp {
            lines.append("  stopped before all changes were carried over: the next run continues there")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the report as one JSON object with its keys in a fixed order.
    package static func json(_ outcome: MirrorOutcome, of name: String) -> String {
        let counts = outcome.counts
        return ReportValue.object(
            PartnerJSON.head("partner mirror") + [
                ("partner", .string(name)), ("changes", .integer(counts.changes)),
                ("to_target", .integer(counts.carried[.source] ?? 0)),
                ("to_source", .integer(counts.carried[.target] ?? 0)), ("echoes", .integer(counts.echoes)),
                ("conflicts", .integer(counts.conflicts)),
                ("refused", .integer(counts.refused)), ("lag_ms", .integer(counts.lag)),
                ("delay_p50_ms", .integer(counts.delays.median)),
                ("delay_p99_ms", .integer(counts.delays.percentile99)),
                ("caught_up", .bool(outcome.isCaughtUp)),
            ]
        ).text() + "\n"
    }

    /// Returns a line about a pair of documents that clients changed on both sides.
    /// - Parameter winner: the side whose change was later, and overwrites the other; `nil` if neither is overwritten.
    package static func conflict(_ id: BSONValue, _ winner: PartnerSide?, _ ids: IDDisplay) -> String {
        let changed = "both sides of _id \(ids.text(id) ?? "(hidden)") changed: "
        guard let winner else {
            return changed + "one of the changes cannot be carried over, so neither document is overwritten"
        }
        return changed + "the \(winner == .source ? "original" : "partner")'s change was later, and wins"
    }

    /// Returns a line about a document that cannot be on the other side of the partner, with the reason.
    package static func refusal(_ refusal: Refusal, _ side: PartnerSide, _ ids: IDDisplay) -> String {
        "_id \(ids.text(refusal.id) ?? "(hidden)") of the \(side == .source ? "original" : "partner") is skipped: "
            + "\(refusal.reason)"
    }

    /// Returns the metrics in the format of the Prometheus textfile collector.
    package static func metrics(_ counts: MirrorCounts, of name: String) -> String {
        let values: [(String, Metric.Kind, String, Int)] = [
            ("carried_documents", .counter, "Documents that were carried over.", counts.written),
            ("changes", .counter, "Changes that the mirror has read.", counts.changes),
            ("conflicts", .counter, "Pairs that changed on both sides.", counts.conflicts),
            ("refused_documents", .gauge, "Documents that cannot be on the other side.", counts.refused),
            ("lag_milliseconds", .gauge, "The age of the oldest change that is not carried over.", counts.lag),
            ("delay_p50_milliseconds", .gauge, "How long half of the changes took.", counts.delays.median),
            ("delay_p99_milliseconds", .gauge, "How long 99 of 100 changes took.", counts.delays.percentile99),
        ]
        return Metric.text(
            values.map { Metric("mirror_\($0.0)", $0.2, [("partner", name)], $0.3, kind: $0.1) })
    }
}
