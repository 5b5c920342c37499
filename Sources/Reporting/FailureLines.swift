public import BSON
public import Checking
public import ServerSchema

/// The lines of the file of `check --failures`: one JSON object per line, the last of which is the `result`.
public struct FailureLines: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    public static var schemaVersion: Int { 1 }

    private let ids: IDDisplay
    private let dialect: Dialect

    /// - Parameters:
    ///   - ids: How `_id`s are shown.
    ///   - dialect: The dialect of the schema, which decides the vendor's codes.
    public init(ids: IDDisplay, dialect: Dialect = .appServices) { (self.ids, self.dialect) = (ids, dialect) }

    /// The first line.
    public var header: String {
        ReportValue.object(
            [("record", .string("header"))] + JSONReport.head("check", version: Self.schemaVersion)
        ).line
    }

    /// Returns the line for a document with all its violations.
    public func line(_ document: FailingDocument) -> String {
        ReportValue.object([
            ("record", .string("failure")),
            ("database", .string(document.namespace.database)),
            ("collection", .string(document.namespace.collection)),
            ("_id", ids.json(document.id)),
            ("verdict", .string("\(document.verdict)")),
            ("active_verdict", document.active.map { .string("\($0)") } ?? .null),
            ("in_ledger", .bool(document.isInLedger)), ("excepted", .bool(document.isExcepted)),
            ("violations", .array(document.violations.map(violation))),
        ]).line
    }

    /// Returns the line that makes all earlier lines about a document invalid, because the document changed during the
    /// check.
    ///
    /// Returns `nil` if `_id`s are hidden.
    public func retraction(_ namespace: Namespace, _ id: BSONValue) -> String? {
        if case .hidden = ids { return nil }
        return ReportValue.object([
            ("record", .string("retracted")), ("database", .string(namespace.database)),
            ("collection", .string(namespace.collection)), ("_id", ids.json(id)),
        ]).line
    }

    /// Returns the line that makes all earlier lines about a collection invalid, because the check of the collection
    /// starts again.
    public func retraction(_ namespace: Namespace) -> String {
        ReportValue.object([
            ("record", .string("retracted")), ("database", .string(namespace.database)),
            ("collection", .string(namespace.collection)),
        ]).line
    }

    /// Returns the last line; a file without it is incomplete.
    public func result(_ report: CheckReport) -> String {
        let total = report.total
        return ReportValue.object([
            ("record", .string("result")), ("dialect", .string(report.dialect.rawValue)),
            ("source", .string(report.source)),
            ("active", report.active.map { .string($0) } ?? .null), ("documents_read", .integer(total.read)),
            ("certain", .integer(total.certain)), ("possible", .integer(total.possible)),
            ("changes", total.changes?.json ?? .null), ("band", .string(report.bandName)),
            ("safe", .bool(report.isSafe)),
            (
                "filters",
                .array(report.collections.flatMap { collection in collection.groups.map { filter($0, collection) } })
            ),
        ]).line
    }

    /// Returns the mongosh filter that finds the documents of a violation group, as JSON.
    private func filter(_ group: ViolationGroup, _ collection: CheckReport.Collection) -> ReportValue {
        let namespace = collection.reading.namespace ?? collection.namespace
        return .object([
            ("database", .string(namespace.database)), ("collection", .string(namespace.collection)),
            ("path", .string("\(group.violation.path)")), ("rule", .string(group.violation.rule.rawValue)),
            ("documents", .integer(group.count)), ("filter", .extended(.object(group.filter))),
            ("filter_is_exact", .bool(group.filterIsExact)),
        ])
    }

    private func violation(_ violation: Violation) -> ReportValue {
        var members: [(String, ReportValue)] = [
            ("path", .string("\(violation.path)")), ("rule", .string(violation.rule.rawValue)),
            ("vendor_code", violation.rule.vendorCode(in: dialect).map { .string($0) } ?? .null),
            ("level", .string("\(violation.level)")),
            ("expected", .string(violation.expected)), ("found", .string(violation.found)),
        ]
        let value = SampleValue(violation.value, at: violation.path, ids: ids)
        if let text = value.text { members.append(("value", .string(text))) }
        return .object(members)
    }
}
