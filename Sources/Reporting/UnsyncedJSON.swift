import BSON
public import Checking
import Concurrency

/// The ledger of unsynced documents as JSON: one object with its keys in a fixed order.
public struct UnsyncedJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    public static var schemaVersion: Int { 1 }

    private let report: UnsyncedReport
    private let ids: IDDisplay

    /// Wraps a report.
    /// - Parameter ids: How `_id`s are shown.
    public init(_ report: UnsyncedReport, ids: IDDisplay = .shown) {
        self.report = report
        self.ids = ids
    }

    /// The JSON text, indented, which ends with a line break.
    public var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "unsynced", version: Self.schemaVersion,
            [
                ("source", .string(report.source)),
                ("schema", report.schema.map { .string($0) } ?? .null),
                ("duration_ms", .integer(Int(report.duration.milliseconds))),
                ("ledgers", .array(report.ledgers.map { .string("\($0)") })),
                ("limit", .integer(report.limit)),
                ("apps", .array(report.apps.map(app))),
                ("explained", report.explained.map(counts) ?? .null),
                ("notes", .array(report.notes.map { .string($0) })),
            ])
    }

    private func app(_ app: UnsyncedReport.App) -> ReportValue {
        .object([
            ("app", app.id.map { .string($0) } ?? .null),
            ("ledger", app.ledgers.first.map { .string("\($0)") } ?? .null),
            ("ledgers", .array(app.ledgers.map { .string("\($0)") })),
            ("documents", .integer(app.documentCount)),
            ("entries", .integer(app.count.entries)),
            ("headroom", .integer(app.headroom(limit: report.limit))),
            ("collections", .array(app.collections.map(collection))),
        ])
    }

    private func collection(_ collection: UnsyncedReport.Collection) -> ReportValue {
        .object([
            ("database", collection.namespace.map { .string($0.database) } ?? .null),
            ("collection", collection.namespace.map { .string($0.collection) } ?? .null),
            ("documents", .integer(collection.documentCount)),
            ("entries", .integer(collection.entryCount)),
            (
                "reasons",
                .array(
                    collection.reasons.map {
                        .object([
                            ("reason", $0.text.map { .string($0) } ?? .null), ("entries", .integer($0.entryCount)),
                        ])
                    })
            ),
            ("is_covered", collection.explanation.map { .bool($0.counts != nil) } ?? .null),
            ("explained", collection.explanation?.counts.map(counts) ?? .null),
            ("groups", .array((collection.explanation?.groups ?? []).map { $0.json(ids: ids) })),
        ])
    }

    private func counts(_ counts: UnsyncedExplanation.Counts) -> ReportValue {
        .object([
            ("still_failing", .integer(counts.failing)), ("possibly_failing", .integer(counts.possible)),
            ("fit_now", .integer(counts.fitting)), ("gone", .integer(counts.gone)),
        ])
    }
}
