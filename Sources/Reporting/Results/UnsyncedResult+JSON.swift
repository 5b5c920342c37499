import BSON
import Checking
import Concurrency

extension UnsyncedResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport {
        JSONReport(
            "ledger show",
            [
                "source": found.source, "schema": found.schema, "duration_ms": Int(found.duration.milliseconds),
                "ledgers": found.ledgers.map { "\($0)" }, "limit": found.limit, "apps": found.apps.map(app),
                "explained": found.explained.map(counts), "notes": found.notes,
            ])
    }

    private func app(_ app: UnsyncedReport.App) -> ReportValue {
        [
            "app": app.id, "ledger": app.ledgers.first.map { "\($0)" }, "ledgers": app.ledgers.map { "\($0)" },
            "documents": app.documentCount, "entries": app.count.entries, "headroom": app.headroom(limit: found.limit),
            "collections": app.collections.map(collection),
        ]
    }

    private func collection(_ collection: UnsyncedReport.Collection) -> ReportValue {
        [
            "database": collection.namespace?.database,
            "collection": collection.namespace?.collection, "documents": collection.documentCount,
            "entries": collection.entryCount,
            "reasons": collection.reasons.map {
                ["reason": $0.text, "entries": $0.entryCount] as ReportValue
            },
            "is_covered": collection.explanation.map { $0.counts != nil },
            "explained": collection.explanation?.counts.map(counts),
            "groups": (collection.explanation?.groups ?? []).map { $0.json(ids: ids) },
        ]
    }

    private func counts(_ counts: UnsyncedExplanation.Counts) -> ReportValue {
        [
            "still_failing": counts.failing, "possibly_failing": counts.possible, "fit_now": counts.fitting,
            "gone": counts.gone,
        ]
    }
}
