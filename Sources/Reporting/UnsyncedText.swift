import BSON
public import Checking
import Concurrency
import TextTable

/// The ledger of unsynced documents as text: first the headroom, then the apps, their collections and reasons.
public struct UnsyncedText: Sendable {
    private let report: UnsyncedReport
    private let paint: Paint
    private let width: Int?
    private let ids: IDDisplay

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The width of the terminal in columns; `nil` for a file, whose lines are not wrapped.
    ///   - ids: How `_id`s are shown.
    public init(_ report: UnsyncedReport, isColored: Bool = false, width: Int? = nil, ids: IDDisplay = .shown) {
        self.report = report
        self.width = width
        self.ids = ids
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    public var text: String {
        var blocks = [headline] + report.apps.map(app)
        if !report.notes.isEmpty { blocks.append(report.notes.map { "Note: \($0)" }.asLines) }
        blocks.append("\(report.source.printable) read in \(report.duration.seconds.inTenths) s.")
        return blocks.asReport(verdict: headline)
    }

    private var headline: String {
        let (text, level) = report.headline
        return ([paint(level, text.printable)] + [report.explanation].compactMap(\.self)).asLines
    }

    private func app(_ app: UnsyncedReport.App) -> String {
        let name = app.id.map { "app \($0.printable)" } ?? "no app ID"
        let headroom = app.headroom(limit: report.limit)
        let heading =
            "\(paint.bold(name)) in \(app.ledgers.map { "\($0)".printable }.joined(separator: " and ")): "
            + "\(app.documentCount.documents), \(app.count.entries.entries), headroom \(headroom.grouped)"
        let table = TextTable.lines(of: report.table(of: app), width: width)
        let blocks = [[heading] + table] + app.collections.map(groups).filter { !$0.isEmpty }
        return blocks.map(\.asLines).joined(separator: "\n\n")
    }

    /// Returns lines on why documents of a collection still fail; empty if they were not checked, or if none fails.
    ///
    /// For a collection that the schema does not cover, the line says so.
    private func groups(_ collection: UnsyncedReport.Collection) -> [String] {
        guard let namespace = collection.namespace, let explanation = collection.explanation else { return [] }
        guard explanation.counts != nil else {
            return ["\(namespace): not covered by \(report.schema ?? "the schema")"]
        }
        guard !explanation.groups.isEmpty else { return [] }
        let found = CheckReport.Collection(
            namespace: namespace, counts: DocumentCounts(), groups: explanation.groups)
        let table = CheckReportGroups(collection: found, ids: ids, width: width, showsFilters: false).text
        // The table is split into lines, because a line break within a line would be shown as an escape.
        return ["\(namespace): why documents fail".printable] + table.split(separator: "\n").map(String.init)
    }
}

extension UnsyncedReport {
    /// A sentence on the unsynced documents and the headroom of the app with the most ledger entries, and its level.
    var headline: (text: String, level: Report.Level) {
        guard !ledgers.isEmpty else {
            return ("No ledger: there is no collection of unsynced documents in \(source).", .good)
        }
        guard let fullest = apps.first else { return ("The ledger is empty (limit \(limit.grouped)).", .good) }
        let headroom = fullest.headroom(limit: limit)
        let apps = apps.count > 1 ? " in the fullest of \(apps.count.grouped) apps" : ""
        let count = fullest.count
        let entries = count.warning == nil ? "" : " in \(count.entries.entries)"
        let recorded =
            "\(fullest.documentCount.documents) \(fullest.documentCount == 1 ? "is" : "are") unsynced\(entries)\(apps)"
        return headroom < 0
            ? ("Sync has stopped: \(recorded), and the limit is \(limit.grouped).", .error)
            : ("\(recorded): headroom \(headroom.grouped) of \(limit.grouped).", .warning)
    }

    /// A sentence on how many documents of the ledger still fail, might fail, fit now or are gone; `nil` if they were
    /// not checked.
    var explanation: String? {
        guard let explained, !apps.isEmpty else { return nil }
        let uncovered = uncoveredCount
        let rest = uncovered > 0 ? "; \(uncovered.grouped) not checked, because the schema does not cover them" : ""
        return "\(explained.failing.grouped) still fail, \(explained.possible.grouped) might fail, "
            + "\(explained.stale.grouped) are stale (\(explained.fitting.grouped) fit now, "
            + "\(explained.gone.grouped) are gone)\(rest)."
    }

    /// Returns a table with a row per collection of an app.
    func table(of app: App) -> Report.Table {
        let counted = schema == nil ? [] : ["still fail", "might fail", "fit now", "gone"]
        return Report.Table(
            title: app.id.map { "app \($0)" } ?? "no app ID",
            columns: [Report.Column(title: "collection")]
                + (["documents", "entries"] + counted).map { Report.Column(title: $0, isNumber: true) }
                + [Report.Column(title: "reason")],
            rows: app.collections.map(row))
    }

    private func row(_ collection: Collection) -> [Report.Cell] {
        let counts = collection.explanation?.counts
        let explained =
            schema == nil
            ? [] : [counts?.failing, counts?.possible, counts?.fitting, counts?.gone].map { $0?.grouped ?? "-" }
        return [Report.Cell(collection.namespace.map { "\($0)" } ?? "(no document named)")]
            + ([collection.documentCount.grouped, collection.entryCount.grouped] + explained).map { Report.Cell($0) }
            + [Report.Cell(reasons(collection))]
    }

    /// Returns the two most frequent reasons that a collection's ledger entries give, with their counts if there are
    /// several reasons.
    private func reasons(_ collection: Collection) -> String {
        let shown = collection.reasons.prefix(2).map { reason in
            let text = (reason.text.map { "\"\($0.printable)\"" } ?? "(none)")
            return collection.reasons.count == 1 ? text : "\(text) × \(reason.entryCount.grouped)"
        }
        let more = collection.reasons.count - shown.count
        return (shown + (more > 0 ? ["and \(more.grouped) more"] : [])).joined(separator: ", ")
    }
}
