package import Watching

/// What a watch's ledger holds, for a person and for machines.
///
/// The forms are made of counts alone: they show neither documents nor their `_id`s.
package enum WatchReport {
    /// The version of the JSON's shape.
    package static var schemaVersion: Int { 1 }
}

extension WatchReport {
    /// Lines for a person.
    package static func text(_ outcome: WatchOutcome) -> String {
        let counts = outcome.counts
        var lines = [line(counts)]
        for (namespace, count) in counts.collections { lines.append("  \(count.grouped) of \(namespace)") }
        if !outcome.isCaughtUp { lines.append("Stopped before all changes were judged: the next run goes on there.") }
        return lines.joined(separator: "\n")
    }

    /// One line for a person.
    package static func line(_ counts: WatchCounts) -> String {
        "\(counts.total.counted("unsynced document")) in \(counts.ledger), of a limit of "
            + "\(counts.limit.grouped)"
    }

    /// One JSON object, whose keys always stand in the same order.
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

    /// What a Prometheus textfile collector reads.
    package static func metrics(_ counts: WatchCounts) -> String {
        func metric(_ name: String, _ kind: String, _ help: String, _ values: [(labels: String, value: Int)]) -> String
        {
            "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
                + values.map { "\(name)\($0.labels) \($0.value)\n" }.joined()
        }
        let ledger = label("ledger", "\(counts.ledger)")
        let collections = counts.collections.map { namespace, count in
            (labels: "{\(ledger),\(label("collection", "\(namespace)"))}", value: count)
        }
        return metric(
            "shipshape_unsynced_documents", "gauge", "Documents that do not sync, by collection.", collections)
            + metric(
                "shipshape_unsynced_documents_total", "gauge", "Documents that do not sync, of all collections.",
                [("{\(ledger)}", counts.total)])
            + metric(
                "shipshape_unsynced_limit", "gauge", "The count at which sync stops.", [("{\(ledger)}", counts.limit)])
            + metric(
                "shipshape_watch_lag_seconds", "gauge", "How far the ledger is behind the deployment.",
                [("{\(ledger)}", counts.lag)])
            + metric(
                "shipshape_watch_changes", "counter", "Changes that were judged since the watch began.",
                [("{\(ledger)}", counts.changes)])
    }

    private static func label(_ name: String, _ value: String) -> String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\(name)=\"\(escaped)\""
    }
}
