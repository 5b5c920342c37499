import BSON
public import Checking
import Concurrency
import TextTable

/// What the ledger of unsynced documents holds, for a person: the headroom first, then who, where and why.
public struct UnsyncedText: Sendable {
    private let report: UnsyncedReport
    private let paint: Paint
    private let width: Int?
    private let ids: IDDisplay

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The columns of a terminal; `nil` for a file, whose lines are as long as they need be.
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
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private var headline: String {
        let limit = report.limit.grouped
        guard !report.ledgers.isEmpty else {
            return paint.green("No ledger.")
                + " There is no collection of unsynced documents in \(report.source.printable)."
        }
        guard let fullest = report.apps.first else { return paint.green("The ledger is empty.") + " (limit \(limit))" }
        let headroom = fullest.headroom(limit: report.limit)
        let apps = report.apps.count > 1 ? " in the fullest of \(report.apps.count) apps" : ""
        let count = fullest.count
        let entries = count.warning == nil ? "" : " in \(count.entries.entries)"
        let recorded =
            "\(fullest.documentCount.documents) \(fullest.documentCount == 1 ? "is" : "are") unsynced\(entries)\(apps)"
        let first =
            headroom < 0
            ? paint.red("Sync has stopped: \(recorded), and the limit is \(limit).")
            : paint.yellow("\(recorded): headroom \(headroom.grouped) of \(limit).")
        guard let explained = report.explained else { return first }
        let uncovered = report.uncoveredCount
        let rest = uncovered > 0 ? "; \(uncovered.grouped) not looked at, since the schema does not cover them" : ""
        return first + "\n"
            + "\(explained.failing.grouped) still fail, \(explained.possible.grouped) may fail, "
            + "\(explained.stale.grouped) are stale (\(explained.fitting.grouped) fit now, "
            + "\(explained.gone.grouped) are gone)\(rest)."
    }

    private func app(_ app: UnsyncedReport.App) -> String {
        let name = app.id.map { "app \($0.printable)" } ?? "no app named"
        let headroom = app.headroom(limit: report.limit)
        let heading =
            "\(paint.bold(name)) in \(app.ledgers.map { "\($0)".printable }.joined(separator: " and ")): "
            + "\(app.documentCount.documents), \(app.count.entries.entries), headroom \(headroom.grouped)"
        let blocks = [[heading] + table(app)] + app.collections.map(groups).filter { !$0.isEmpty }
        return blocks.map(\.asLines).joined(separator: "\n\n")
    }

    private func table(_ app: UnsyncedReport.App) -> [String] {
        let isExplained = report.schema != nil
        let table = TextTable<UnsyncedReport.Collection> { collection in
            var columns = [
                Column(
                    title: "collection", value: collection.namespace.map { "\($0)".printable } ?? "(no document named)"),
                Column(title: "documents", value: collection.documentCount.grouped, align: .right),
                Column(title: "entries", value: collection.entryCount.grouped, align: .right),
            ]
            if isExplained {
                let counts = collection.explanation?.counts
                func cell(_ count: Int?) -> String { count?.grouped ?? "-" }
                columns += [
                    Column(title: "still fail", value: cell(counts?.failing), align: .right),
                    Column(title: "may fail", value: cell(counts?.possible), align: .right),
                    Column(title: "fit now", value: cell(counts?.fitting), align: .right),
                    Column(title: "gone", value: cell(counts?.gone), align: .right),
                ]
            }
            return columns + [Column(title: "reason", value: reasons(collection))]
        }
        return (table.string(for: app.collections) ?? "").split(separator: "\n").map { "  \($0.trimmedEnd)" }
    }

    /// The most frequent reasons; how often, where there are several.
    private func reasons(_ collection: UnsyncedReport.Collection) -> String {
        let shown = collection.reasons.prefix(2).map { reason in
            let text = (reason.text.map { "\"\($0.printable)\"" } ?? "(none)")
            return collection.reasons.count == 1 ? text : "\(text) × \(reason.entryCount.grouped)"
        }
        let more = collection.reasons.count - shown.count
        return (shown + (more > 0 ? ["and \(more) more"] : [])).joined(separator: ", ")
    }

    /// Why the documents of a collection fail that still do.
    private func groups(_ collection: UnsyncedReport.Collection) -> [String] {
        guard let namespace = collection.namespace, let explanation = collection.explanation else { return [] }
        guard explanation.counts != nil else {
            return ["\(namespace): not covered by \(report.schema ?? "the schema")"]
        }
        guard !explanation.groups.isEmpty else { return [] }
        let found = CheckReport.Collection(
            namespace: namespace, counts: DocumentCounts(), groups: explanation.groups)
        let table = CheckReportGroups(collection: found, ids: ids, width: width, showsFilters: false).text
        // Lines of their own: a line break within one would be shown as an escape.
        return ["\(namespace): why they fail".printable] + table.split(separator: "\n").map(String.init)
    }
}
