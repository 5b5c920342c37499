import BSON
package import Checking
import Concurrency
import SchemaChange
import ServerSchema

/// A check's report as JSON: one object with its keys in a fixed order, the verdict last.
package struct CheckReportJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    static let schemaVersion = 1

    private let report: CheckReport
    private let ids: IDDisplay
    private let history: CheckHistory

    /// Creates the JSON form of a report.
    /// - Parameters:
    ///   - history: the results of earlier checks and, last, of this one; empty if no history is kept.
    package init(_ report: CheckReport, ids: IDDisplay = .shown, history: CheckHistory = CheckHistory([])) {
        self.report = report
        self.ids = ids
        self.history = history
    }

    /// The JSON text, indented, which ends with a line break.
    package var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "check", version: Self.schemaVersion,
            [
                "dialect": report.rules.dialect.rawValue, "engine": report.rules.engine?.rawValue,
                "has_schema": report.rules.hasSchema, "source": report.source, "active": report.active?.name,
                "part": report.part?.json, "duration_ms": Int(report.duration.milliseconds),
                "collections": report.collections.map(collection),
                "removed_collections": (report.active?.removed ?? []).map(removed),
                "exceptions": report.exceptions?.json, "limits": report.limits.map(\.json),
                "history": history.difference?.json, "anomalies": history.anomalies.map(\.json), "notes": report.notes,
                "verdict": verdict(report.verdict),
            ])
    }

    private func collection(_ collection: CheckReport.Collection) -> ReportValue {
        let counts = collection.counts
        return [
            "database": collection.namespace.database, "collection": collection.namespace.collection,
            "sync": collection.scope.rawValue, "in_verdict": collection.isCounted,
            "partner": collection.partner.map { "\($0)" }, "documents_read": counts.read,
            "documents_estimated": collection.estimatedCount, "in_active": collection.isInActive,
            "failing": failing(counts), "changes": counts.changes?.json,
            "engine_counts": counts.engine?.json, "reading": reading(collection),
            "server_verdicts": collection.reading.comparison?.json(ids: ids),
            "groups": collection.groups.map { $0.json(ids: ids, in: report.rules.dialect) },
            "findings_not_grouped": collection.overflowCount,
            "keywords_not_judged": collection.unevaluatedKeywords.map(keyword),
        ]
    }

    private func failing(_ counts: DocumentCounts) -> ReportValue {
        [
            "certain": counts.certain, "certain_new": counts.newCertain, "certain_in_ledger": counts.certainInLedger,
            "possible": counts.possible, "possible_new": counts.newPossible,
            "possible_in_ledger": counts.possibleInLedger, "excepted": counts.excepted,
            "unfound": counts.unfound.all, "newly_unfound": counts.unfound.new, "refused": counts.refused.all,
            "newly_refused": counts.refused.new, "unincluded": counts.unincluded.all,
            "newly_unincluded": counts.unincluded.new,
            "unexcepted": [
                "certain": counts.unexcepted.certain, "possible": counts.unexcepted.possible,
                "newly_failing": counts.unexcepted.newlyFailing, "newly_possible": counts.unexcepted.newlyPossible,
            ] as ReportValue,
        ]
    }

    private func removed(_ collection: RemovedCollection) -> ReportValue {
        [
            "database": collection.namespace.database, "collection": collection.namespace.collection,
            "documents_estimated": collection.documentCount,
        ]
    }

    private func keyword(_ keyword: CompiledSchema.UnevaluatedKeyword) -> ReportValue {
        ["path": "\(keyword.path)", "keyword": keyword.keyword, "file": keyword.file, "line": keyword.line]
    }

    private func verdict(_ verdict: DeployVerdict) -> ReportValue {
        [
            "safe": report.isSafe,
            "parts": [
                "documents": part(report.documentsPart, report.documentsSeverity) + documents,
                "limit": part(report.limitPart, report.limitSeverity) + limit, "change": changeJSON,
            ] as ReportValue,
            "sync_state": report.sync.state?.rawValue, "band": report.bandName,
            "ledger": verdict.ledger.map { $0.documents ?? $0.entries },
            "ledger_entries": verdict.ledger?.entries, "newly_failing": verdict.newlyFailing,
            "certain_new": verdict.newCertain, "possible_new": verdict.newPossible,
            "possible_counted": verdict.possiblyStopping, "projected": verdict.projected,
            "pessimistic": verdict.pessimistic, "headroom": report.isOfDeviceSync ? verdict.headroom : nil,
            "limit": report.isOfDeviceSync ? verdict.limit : nil,
        ]
    }

    private func part(_ part: Report.Part, _ severity: DeployVerdict.Severity) -> ReportValue {
        ["severity": severity.rawValue, "sentence": part.sentence, "reasons": part.reasons]
    }

    private var documents: ReportValue {
        [
            "stopping": report.verdict.stopping, "possibly_stopping": report.verdict.possiblyStopping,
            "removed_collections": report.lost.map { "\($0.namespace)" }, "jobs": report.jobs.map(\.json),
            "converted_by_jobs": report.jobs.reduce(0) { $0 + $1.convertedCount },
            "unfinished_jobs": report.jobs.flatMap { $0.unfinished.map(\.job) },
            "absent_collections": report.absent.map { "\($0)" },
        ]
    }

    private var limit: ReportValue {
        [
            "has_stopped": report.isOfDeviceSync && report.verdict.band == .syncHasStopped,
            "will_stop": report.isOfDeviceSync && report.verdict.band >= .syncWillStop,
        ]
    }

    private var changeJSON: ReportValue {
        report.active?.statedChange.map { SchemaFileText($0).json }
            ?? part(report.changePart(ids), report.changeSeverity) + change
    }

    private var change: ReportValue {
        let change = report.active?.change
        return [
            "old": change?.old, "new": change?.new, "worst": change?.verdict?.rawValue,
            "server": change?.worst(\.server).rawValue, "client": change?.worst(\.client).rawValue,
            "changes": change?.changes.count,
            "breaking": change?.count(of: .breaking), "unaccepted": change.map { _ in report.unacceptedChanges.count },
            "served": change?.count(of: .served),
            "consequences": (change?.consequences ?? []).map(\.rawValue),
            "development_mode": report.sync.isInDevelopment,
            "backlinks": (report.active?.backlinks ?? []).map { $0.json(ids: ids) },
        ]
    }
}
