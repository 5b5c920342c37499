import BSON
public import Checking
import Concurrency
import SchemaChange
import ServerSchema

/// A check's report as JSON: one object with its keys in a fixed order, the verdict last.
public struct CheckReportJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    public static var schemaVersion: Int { 1 }

    private let report: CheckReport
    private let ids: IDDisplay
    private let difference: CheckDifference?

    /// Wraps a report.
    /// - Parameter ids: How `_id`s are shown.
    public init(_ report: CheckReport, ids: IDDisplay = .shown) { self.init(report, ids: ids, difference: nil) }

    /// Wraps a report and its differences from an earlier check.
    /// - Parameter difference: the findings that changed since an earlier check; `nil` if there is none to compare
    ///   with.
    init(_ report: CheckReport, ids: IDDisplay, difference: CheckDifference?) {
        self.report = report
        self.ids = ids
        self.difference = difference
    }

    /// The JSON text, indented, which ends with a line break.
    public var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "check", version: Self.schemaVersion,
            [
                ("dialect", .string(report.dialect.rawValue)),
                ("source", .string(report.source)),
                ("active", report.active.map { .string($0) } ?? .null),
                ("part", report.part?.json ?? .null),
                ("duration_ms", .integer(Int(report.duration.milliseconds))),
                ("collections", .array(report.collections.map(collection))),
                ("removed_collections", .array(report.removed.map(removed))),
                ("exceptions", report.exceptions.map(\.json) ?? .null),
                ("limits", .array(report.limits.map(\.json))),
                ("history", difference?.json ?? .null),
                ("notes", .array(report.notes.map { .string($0) })),
                ("verdict", verdict(report.verdict)),
            ])
    }

    private func collection(_ collection: CheckReport.Collection) -> ReportValue {
        let counts = collection.counts
        return .object([
            ("database", .string(collection.namespace.database)),
            ("collection", .string(collection.namespace.collection)),
            ("sync", .string(collection.scope.rawValue)),
            ("in_verdict", .bool(collection.isCounted)),
            ("partner", collection.partner.map { .string("\($0)") } ?? .null),
            ("documents_read", .integer(counts.read)),
            ("documents_estimated", collection.estimatedCount.map { .integer($0) } ?? .null),
            ("in_active", collection.isInActive.map { .bool($0) } ?? .null),
            ("failing", failing(counts)),
            ("changes", counts.changes?.json ?? .null),
            ("reading", reading(collection)),
            ("groups", .array(collection.groups.map { $0.json(ids: ids, in: report.dialect) })),
            ("findings_not_grouped", .integer(collection.overflowCount)),
            ("keywords_not_judged", .array(collection.unevaluatedKeywords.map(keyword))),
        ])
    }

    private func failing(_ counts: DocumentCounts) -> ReportValue {
        .object([
            ("certain", .integer(counts.certain)), ("certain_new", .integer(counts.newCertain)),
            ("certain_in_ledger", .integer(counts.certainInLedger)),
            ("possible", .integer(counts.possible)), ("possible_new", .integer(counts.newPossible)),
            ("possible_in_ledger", .integer(counts.possibleInLedger)),
            ("excepted", .integer(counts.excepted)),
            (
                "unexcepted",
                .object([
                    ("certain", .integer(counts.unexcepted.certain)),
                    ("possible", .integer(counts.unexcepted.possible)),
                    ("newly_failing", .integer(counts.unexcepted.newlyFailing)),
                    ("newly_possible", .integer(counts.unexcepted.newlyPossible)),
                ])
            ),
        ])
    }

    private func removed(_ collection: RemovedCollection) -> ReportValue {
        .object([
            ("database", .string(collection.namespace.database)),
            ("collection", .string(collection.namespace.collection)),
            ("documents_estimated", collection.documentCount.map { .integer($0) } ?? .null),
        ])
    }

    private func keyword(_ keyword: CompiledSchema.UnevaluatedKeyword) -> ReportValue {
        .object([
            ("path", .string("\(keyword.path)")), ("keyword", .string(keyword.keyword)),
            ("file", .string(keyword.file)), ("line", .integer(keyword.line)),
        ])
    }

    /// Whether sync stops at a certain number of unsynced documents, as it does under App Services schemas.
    private var hasLimit: Bool { report.dialect.isOfSync }

    private func verdict(_ verdict: DeployVerdict) -> ReportValue {
        .object([
            ("safe", .bool(report.isSafe)),
            (
                "parts",
                .object([
                    ("documents", .object(part(report.documentsPart) + documents)),
                    ("limit", .object(part(report.limitPart) + limit)),
                    ("change", changeJSON),
                ])
            ),
            ("sync_state", report.sync.state.map { .string($0.rawValue) } ?? .null),
            ("band", .string(report.bandName)),
            ("ledger", verdict.ledger.map { .integer($0.documents ?? $0.entries) } ?? .null),
            ("ledger_entries", verdict.ledger.map { .integer($0.entries) } ?? .null),
            ("newly_failing", verdict.newlyFailing.map { .integer($0) } ?? .null),
            ("certain_new", .integer(verdict.newCertain)),
            ("possible_new", .integer(verdict.newPossible)),
            ("possible_counted", .integer(verdict.possiblyStopping)),
            ("projected", .integer(verdict.projected)),
            ("pessimistic", .integer(verdict.pessimistic)),
            ("headroom", hasLimit ? .integer(verdict.headroom) : .null),
            ("limit", hasLimit ? .integer(verdict.limit) : .null),
        ])
    }

    private func part(_ part: VerdictPart) -> [(String, ReportValue)] {
        [
            ("severity", .string(part.severity.rawValue)), ("sentence", .string(part.sentence)),
            ("reasons", .array(part.reasons.map { .string($0) })),
        ]
    }

    private var documents: [(String, ReportValue)] {
        [
            ("stopping", .integer(report.verdict.stopping)),
            ("possibly_stopping", .integer(report.verdict.possiblyStopping)),
            ("removed_collections", .array(report.lost.map { .string("\($0.namespace)") })),
            ("jobs", .array(report.jobs.map(\.json))),
            (
                "converted_by_jobs",
                .integer(report.jobs.reduce(0) { $0 + $1.convertedCount })
            ),
            (
                "unfinished_jobs",
                .array(report.jobs.flatMap { $0.unfinished.map { ReportValue.string($0.job) } })
            ),
            ("absent_collections", .array(report.absent.map { .string("\($0)") })),
        ]
    }

    private var limit: [(String, ReportValue)] {
        [
            ("has_stopped", .bool(hasLimit && report.verdict.band == .syncHasStopped)),
            ("will_stop", .bool(hasLimit && report.verdict.band >= .syncWillStop)),
        ]
    }

    private var changeJSON: ReportValue {
        report.statedChange.map { SchemaFileText($0).json } ?? .object(part(report.changePart(ids)) + change)
    }

    private var change: [(String, ReportValue)] {
        let change = report.change
        func verdict(_ side: KeyPath<SchemaChange, SchemaChange.Verdict>) -> ReportValue {
            change.map { .string($0.worst(side).rawValue) } ?? .null
        }
        return [
            ("old", change.map { .string($0.old) } ?? .null), ("new", change.map { .string($0.new) } ?? .null),
            ("worst", change?.verdict.map { .string($0.rawValue) } ?? .null),
            ("server", verdict(\.server)), ("client", verdict(\.client)),
            ("changes", change.map { .integer($0.changes.count) } ?? .null),
            ("breaking", change.map { .integer($0.count(of: .breaking)) } ?? .null),
            ("served", change.map { .integer($0.count(of: .served)) } ?? .null),
            ("consequences", .array((change?.consequences ?? []).map { .string($0.rawValue) })),
            ("development_mode", .bool(report.sync.isInDevelopment)),
            ("backlinks", .array(report.backlinks.map { $0.json(ids: ids) })),
        ]
    }
}
