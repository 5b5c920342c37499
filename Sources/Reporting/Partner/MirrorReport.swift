package import BSON
package import Partners

/// The texts about a mirror, which keeps an original collection and its partner collection equal: lines about events,
/// and metrics.
package enum MirrorReport {
    /// Returns a line about a pair of documents that clients changed in both the original and the partner collection.
    /// - Parameter winner: the collection whose later change overwrites the other document; `nil` if neither is
    ///   overwritten.
    package static func conflict(_ id: BSONValue, _ winner: PartnerSide?, _ ids: IDDisplay) -> String {
        let changed = "both sides of _id \(ids.text(id) ?? "(hidden)") changed: "
        guard let winner else {
            return changed + "one of the changes cannot be carried over, so neither document is overwritten"
        }
        return changed + "the \(winner == .source ? "original" : "partner")'s change was later, and wins"
    }

    /// Returns a line about a document that the mirror cannot copy to the other collection, with the reason.
    package static func refusal(_ refusal: Refusal, _ side: PartnerSide, _ ids: IDDisplay) -> String {
        "_id \(ids.text(refusal.id) ?? "(hidden)") of the \(side == .source ? "original" : "partner") is skipped: "
            + "\(refusal.reason)"
    }

    /// Returns the metrics of a mirror in the format of the Prometheus textfile collector.
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
