import BSON
package import Watching

/// The status line and the metrics of a watch.
///
/// They contain only counts, and neither documents nor their `_id`s.
package enum WatchReport {
    /// Returns a line with the number of failing or unsynced documents, the collection that records them and, if there
    /// is one, the limit.
    package static func line(_ counts: WatchCounts) -> String {
        guard counts.limit < .max else { return "\(counts.total.counted("failing document")) in \(counts.ledger)" }
        return "\(counts.total.counted("unsynced document")) in \(counts.ledger) (limit \(counts.limit.grouped))"
    }

    /// Returns the metrics of a watch in the format of the Prometheus textfile collector.
    package static func metrics(_ counts: WatchCounts) -> String {
        let labels = [Metric.Label("ledger", "\(counts.ledger)")]
        return Metric.text(
            [
                Metric(
                    "unsynced_documents", "Documents that do not sync, by collection.",
                    counts: counts.collections.map { (labels + [("collection", "\($0)")], $1) }),
                Metric(
                    "unsynced_documents_total", "Documents that do not sync, in all collections.", labels,
                    counts.total),
                counts.limit < .max
                    ? Metric("unsynced_limit", "The count at which sync stops.", labels, counts.limit) : nil,
                Metric(
                    "ledger_lag_seconds", "Seconds by which the ledger lags behind the deployment.", labels,
                    counts.lag),
                Metric(
                    "ledger_changes", "Changes that were judged since the watch began.", labels, counts.changes,
                    kind: .counter),
            ].compactMap(\.self))
    }
}
