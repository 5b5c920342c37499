import BSON
package import Checking
import Concurrency

/// The contents of the ledger of unsynced documents, in every output format.
package struct UnsyncedResult: Reportable {
    private let found: UnsyncedReport
    private let ids: IDDisplay

    /// - Parameter ids: how `_id`s are shown.
    package init(_ report: UnsyncedReport, ids: IDDisplay = .shown) { (found, self.ids) = (report, ids) }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        UnsyncedText(layout.shown(found, notes: \.notes), isColored: layout.isColored, width: layout.width, ids: ids)
            .text
    }

    /// The result as JSON.
    package var json: JSONReport { UnsyncedJSON(found, ids: ids).json }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        let (headline, level) = found.headline
        var report = Report(command: "unsynced", title: found.source, headline: headline, level: level)
        if let explained = found.explained {
            report.facts = [
                Report.Fact(name: "still fail", value: explained.failing.grouped),
                Report.Fact(name: "might fail", value: explained.possible.grouped),
                Report.Fact(name: "fit now", value: explained.fitting.grouped),
                Report.Fact(name: "gone", value: explained.gone.grouped),
            ]
        }
        report.facts.append(Report.Fact(name: "took", value: "\(found.duration.seconds.inTenths) s"))
        report.gauges = found.apps.map(gauge)
        report.sections = found.apps.flatMap { [section($0)] + $0.collections.compactMap(explained) }
        report.notes = [found.explanation].compactMap(\.self) + found.notes
        return report
    }

    private func gauge(_ app: UnsyncedReport.App) -> Report.Gauge {
        Report.Gauge(
            title: "Unsynced documents \(app.id.map { "of app \($0)" } ?? "without an app ID"), and the limit",
            summary: "\(app.documentCount.documents), \(app.count.entries.entries), headroom "
                + "\(app.headroom(limit: found.limit).grouped).", limit: found.limit,
            amounts: [Report.Amount(name: "entries in the ledger", value: app.count.entries, level: .warning)])
    }

    /// Returns the section that has a finding for each collection of an app.
    private func section(_ app: UnsyncedReport.App) -> Report.Section {
        let table = found.table(of: app)
        return Report.Section(
            name: table.title, columns: table.columns,
            findings: zip(app.collections, table.rows).map { collection, cells in
                let isOpen = isOpen(collection)
                return Report.Finding(
                    level: isOpen ? .error : .notice, isFailure: isOpen, code: "unsynced",
                    subject: collection.namespace.map { "\($0)" } ?? "",
                    message: zip(table.columns, cells).dropFirst().map { "\($0.title) \($1.text)" }.joined(
                        separator: ", "),
                    cells: cells)
            })
    }

    /// Whether some documents of the collection are not known to fit again.
    private func isOpen(_ collection: UnsyncedReport.Collection) -> Bool {
        guard found.schema != nil else { return true }
        guard let counts = collection.explanation?.counts else { return !found.isNarrowed }
        return counts.failing + counts.possible > 0
    }

    /// Returns a section on why documents of a collection still fail; `nil` if they were not checked, or if none fails.
    ///
    /// For a collection that the schema does not cover, the section says so.
    private func explained(_ collection: UnsyncedReport.Collection) -> Report.Section? {
        guard let namespace = collection.namespace, let explanation = collection.explanation else { return nil }
        let name = "\(namespace): why documents fail"
        guard explanation.counts != nil else {
            return Report.Section(
                name: "\(namespace)", summary: "not covered by \(found.schema ?? "the schema")")
        }
        guard !explanation.groups.isEmpty else { return nil }
        let checked = CheckReport.Collection(
            namespace: namespace, counts: DocumentCounts(), groups: explanation.groups)
        return Report.Section(
            name: name, columns: ViolationGroupWords.columns(hasNew: false),
            findings: explanation.groups.map {
                ViolationGroupWords($0, of: checked, ids: ids).finding(isFailure: $0.violation.level >= .possible)
            })
    }
}
