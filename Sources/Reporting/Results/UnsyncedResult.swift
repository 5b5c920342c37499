import BSON
package import Checking
import Concurrency

/// The contents of the ledger of unsynced documents, in every output format.
package struct UnsyncedResult: Reportable {
    let found: UnsyncedReport
    let ids: IDDisplay

    package init(_ report: UnsyncedReport, ids: IDDisplay = .shown) { (found, self.ids) = (report, ids) }

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
            "reasons": collection.reasons.map { ["reason": $0.text, "entries": $0.entryCount] as ReportValue },
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

    package var report: Report {
        let (headline, level) = found.headline
        var report = Report(command: "ledger show", title: found.source, headline: headline, level: level)
        if let explanation = found.explanation { report.headline += " \(explanation)" }
        if let explained = found.explained {
            report.figures.facts = [
                Report.Fact("still fail", explained.failing),
                Report.Fact("might fail", explained.possible),
                Report.Fact("fit now", explained.fitting),
                Report.Fact("gone", explained.gone),
            ]
        }
        report.figures.facts.append(.seconds("took", found.duration.seconds))
        report.figures.gauges = found.apps.map(gauge)
        report.sections = found.apps.flatMap { [section($0)] + $0.collections.compactMap(explained) }
        report.notes = found.notes
        report.figures.footer = "\(found.source) read in \(found.duration.seconds.inTenths) s."
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
        let counted = found.schema == nil ? [] : ["still fail", "might fail", "fit now", "gone"]
        let columns: [Report.Column] =
            ["collection"] + (["documents", "entries"] + counted).map(Report.Column.number) + ["reason"]
        return Report.Section(
            name: app.id.map { "app \($0)" } ?? "no app ID",
            about: app.ledgers.map { "\($0)" }.joined(separator: " and "), summary: summary(app), columns: columns,
            findings: app.collections.map { collection in
                let (isOpen, cells) = (isOpen(collection), found.cells(of: collection))
                return Report.Finding(
                    level: isOpen ? .error : .notice, isFailure: isOpen, code: "unsynced",
                    subject: collection.namespace.map { "\($0)" } ?? "",
                    message: zip(columns, cells).dropFirst().map { "\($0.title) \($1.text)" }.joined(separator: ", "),
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

    /// Returns a section on why documents of a collection still fail, or that the schema does not cover it; `nil` if
    /// they were not checked, or if none fails.
    private func explained(_ collection: UnsyncedReport.Collection) -> Report.Section? {
        guard let namespace = collection.namespace, let explanation = collection.explanation else { return nil }
        guard explanation.counts != nil else {
            return Report.Section(name: "\(namespace)", summary: "not covered by \(found.schema ?? "the schema")")
        }
        guard !explanation.groups.isEmpty else { return nil }
        let checked = CheckReport.Collection(
            namespace: namespace, counts: DocumentCounts(), groups: explanation.groups)
        return Report.Section(
            name: "\(namespace): why documents fail",
            columns: ViolationGroupWords.columns(of: checked, hasLevel: explanation.groups.haveLevels),
            findings: explanation.groups.map {
                ViolationGroupWords($0, of: checked, ids: ids).finding(
                    isFailure: $0.violation.level >= .possible, hasLevel: explanation.groups.haveLevels)
            })
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

    fileprivate func cells(of collection: Collection) -> [Report.Cell] {
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
