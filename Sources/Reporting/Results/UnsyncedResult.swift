import BSON
package import Checking
import Concurrency

/// The contents of the ledger of unsynced documents, in every output format.
package struct UnsyncedResult: Reportable {
    let found: UnsyncedReport
    let ids: IDDisplay

    /// Wraps the report on the ledgers.
    /// - Parameter ids: how `_id`s are shown.
    package init(_ report: UnsyncedReport, ids: IDDisplay = .shown) { (found, self.ids) = (report, ids) }

    /// The report from which every output format except JSON and JSON lines is rendered.
    package var report: Report {
        let (headline, level) = found.headline
        var report = Report(command: "ledger show", title: found.source, headline: headline, level: level)
        if let explanation = found.explanation { report.headline += " \(explanation)" }
        if let explained = found.explained {
            report.figures.facts = [
                Report.Fact(name: "still fail", value: explained.failing.grouped),
                Report.Fact(name: "might fail", value: explained.possible.grouped),
                Report.Fact(name: "fit now", value: explained.fitting.grouped),
                Report.Fact(name: "gone", value: explained.gone.grouped),
            ]
        }
        report.figures.facts.append(Report.Fact(name: "took", value: "\(found.duration.seconds.inTenths) s"))
        report.figures.gauges = found.apps.map(gauge)
        report.sections = found.apps.flatMap { [section($0)] + $0.collections.compactMap(explained) }
        report.notes = found.notes
        report.figures.footer = "\(found.source) read in \(found.duration.seconds.inTenths) s."
        report.style.hidesCommands = true
        return report
    }

    private func gauge(_ app: UnsyncedReport.App) -> Report.Gauge {
        Report.Gauge(
            title: "Unsynced documents \(app.id.map { "of app \($0)" } ?? "without an app ID"), and the limit",
            summary: "\(summary(app)).", limit: found.limit,
            amounts: [Report.Amount(name: "entries in the ledger", value: app.count.entries, level: .warning)])
    }

    private func summary(_ app: UnsyncedReport.App) -> String {
        "\(app.documentCount.documents), \(app.count.entries.entries), headroom "
            + app.headroom(limit: found.limit).grouped
    }

    private func section(_ app: UnsyncedReport.App) -> Report.Section {
        let table = found.table(of: app)
        return Report.Section(
            name: table.title, about: app.ledgers.map { "\($0)" }.joined(separator: " and "), summary: summary(app),
            columns: table.columns,
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

    /// Whether documents of the collection still fail, might fail, or were not checked.
    ///
    /// The result is `true` if there is no schema. If the collection was not checked although there is a schema, the
    /// result is `true` too, unless the operator selected a single collection.
    private func isOpen(_ collection: UnsyncedReport.Collection) -> Bool {
        guard found.schema != nil else { return true }
        guard let counts = collection.explanation?.counts else { return !found.isNarrowed }
        return counts.failing + counts.possible > 0
    }

    /// Returns a section on why documents of a collection still fail; `nil` if they were not checked, or if none fails.
    ///
    /// If the schema does not cover the collection, the section says so instead.
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

extension UnsyncedReport {
    /// A headline, and its level.
    ///
    /// The headline has the number of unsynced documents and the headroom of the app with the most ledger entries. If
    /// there is no ledger, or if it is empty, the headline says so.
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

    /// A sentence with the numbers of the ledger's documents that still fail, might fail, fit now, are gone or were not
    /// checked; `nil` if the ledger has no entries, or if no schema was given.
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
    /// several reasons, and the number of the other reasons.
    private func reasons(_ collection: Collection) -> String {
        let shown = collection.reasons.prefix(2).map { reason in
            let text = (reason.text.map { "\"\($0)\"" } ?? "(none)")
            return collection.reasons.count == 1 ? text : "\(text) × \(reason.entryCount.grouped)"
        }
        let more = collection.reasons.count - shown.count
        return (shown + (more > 0 ? ["and \(more.grouped) more"] : [])).joined(separator: ", ")
    }
}
