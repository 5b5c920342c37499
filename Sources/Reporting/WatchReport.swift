import BSON
package import Watching

/// Shows the report of a watch as text, JSON or metrics.
///
/// Each of them consists of counts alone: it shows neither documents nor their `_id`s.
package enum WatchReport {
    /// The version of the JSON format.
    package static var schemaVersion: Int { 1 }
}

extension WatchReport {
    /// Returns the report as text.
    package static func text(_ outcome: WatchOutcome) -> String {
        let counts = outcome.counts
        var lines = [line(counts)]
        for (namespace, count) in counts.collections { lines.append("  \(count.grouped) of \(namespace)") }
        if !outcome.isCaughtUp { lines.append("Stopped before all changes were judged: the next run resumes there.") }
        return lines.joined(separator: "\n")
    }

    /// Returns the number of unsynced documents, the ledger and the limit, in one line.
    package static func line(_ counts: WatchCounts) -> String {
        "\(counts.total.counted("unsynced document")) in \(counts.ledger) (limit \(counts.limit.grouped))"
    }

    /// Returns the report as one JSON object with its keys in a fixed order.
    package static func json(_ outcome: WatchOutcome) -> String {
        let counts = outcome.counts
        let collections = counts.collections.map { namespace, count in
            ReportValue.object([("collection", .string("\(namespace)")), ("unsynced", .integer(count))])
        }
        return JSONReport(
            "watch", version: schemaVersion,
            [
                ("ledger", .string("\(counts.ledger)")), ("limit", .integer(counts.limit)),
                ("unsynced", .integer(counts.total)), ("collections", .array(collections)),
                ("changes", .integer(counts.changes)), ("lag_seconds", .integer(counts.lag)),
                ("caught_up", .bool(outcome.isCaughtUp)),
            ]
        ).text
    }

    /// Returns the metrics in the format of the Prometheus textfile collector.
    package static func metrics(_ counts: WatchCounts) -> String {
        let labels = [Metric.Label("ledger", "\(counts.ledger)")]
        return Metric.text([
            Metric(
                "unsynced_documents", "Documents that do not sync, by collection.",
                counts: counts.collections.map { namespace, count in (labels + [("collection", "\(namespace)")], count)
                }),
            Metric(
                "unsynced_documents_total", "Documents that do not sync, in all collections.", labels, counts.total),
            Metric("unsynced_limit", "The count at which sync stops.", labels, counts.limit),
            Metric("watch_lag_seconds", "Seconds by which the ledger lags behind the deployment.", labels, counts.lag),
            Metric(
                "watch_changes", "Changes that were judged since the watch began.", labels, counts.changes,
                kind: .counter),
        ])
    }
}
