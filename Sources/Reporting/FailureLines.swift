package import BSON
package import Checking
package import ServerSchema

/// The lines of the file that `check --failures` writes, with one JSON object per line.
///
/// The last line is the `result`.
package struct FailureLines: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    static let schemaVersion = 1

    private let ids: IDDisplay
    private let dialect: Dialect

    /// Creates the lines of a check.
    /// - Parameters:
    ///   - dialect: The dialect of the schema, which decides the vendor's error code for each violation.
    package init(ids: IDDisplay, dialect: Dialect = .appServices) { (self.ids, self.dialect) = (ids, dialect) }

    /// The first line of the file, with the versions of the format and of the program.
    package var header: String {
        (ReportValue.record("header") + JSONReport.head("check", version: Self.schemaVersion)).line
    }

    package func line(_ document: FailingDocument) -> String {
        ([
            "record": "failure", "database": document.namespace.database, "collection": document.namespace.collection,
            "_id": ids.json(document.id), "verdict": "\(document.verdict)",
            "active_verdict": document.active.map { "\($0)" }, "in_ledger": document.isInLedger,
            "excepted": document.isExcepted, "violations": document.violations.map(violation),
        ] as ReportValue).line
    }

    /// Returns the line that makes all earlier lines about a document invalid, because the check judges the document
    /// again.
    ///
    /// Returns `nil` if `_id`s are hidden.
    package func retraction(_ namespace: Namespace, _ id: BSONValue) -> String? {
        if case .hidden = ids { return nil }
        return (retracted(namespace) + ["_id": ids.json(id)]).line
    }

    /// Returns the line that makes all earlier lines about a collection invalid, because the check of the collection
    /// starts again.
    package func retraction(_ namespace: Namespace) -> String { retracted(namespace).line }

    private func retracted(_ namespace: Namespace) -> ReportValue {
        ["record": "retracted", "database": namespace.database, "collection": namespace.collection]
    }

    /// Returns the last line of the file; a file without this line is incomplete.
    package func result(_ report: CheckReport) -> String {
        let total = report.total
        return
            ([
                "record": "result", "dialect": report.rules.dialect.rawValue, "source": report.source,
                "active": report.active?.name, "documents_read": total.read, "certain": total.certain,
                "possible": total.possible, "changes": total.changes?.json, "band": report.bandName,
                "safe": report.isSafe,
                "filters": report.collections.flatMap { place in place.groups.map { filter($0, place) } },
            ] as ReportValue).line
    }

    /// Returns a violation group as JSON, with the filter that finds its documents, the collection, the path and the
    /// rule.
    private func filter(_ group: ViolationGroup, _ collection: CheckReport.Collection) -> ReportValue {
        let namespace = collection.reading.namespace ?? collection.namespace
        return [
            "database": namespace.database, "collection": namespace.collection, "path": "\(group.violation.path)",
            "rule": group.violation.rule.rawValue, "documents": group.count, "filter": group.filter,
            "filter_is_exact": group.filterIsExact,
        ]
    }

    private func violation(_ violation: Violation) -> ReportValue {
        let members: ReportValue = [
            "path": "\(violation.path)", "rule": violation.rule.rawValue,
            "vendor_code": violation.rule.rule?.vendorCode(in: dialect),
            "level": "\(violation.level)", "outcome": EngineRule.named(violation.rule)?.outcome.rawValue,
            "expected": violation.expected, "found": violation.found,
        ]
        return ids.sample(violation.value, at: violation.path).map { members + ["value": $0] } ?? members
    }
}
