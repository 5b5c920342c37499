import BSON

/// The findings that are new, grown, shrunk or gone since an earlier check.
struct CheckDifference {
    enum Kind: String, CaseIterable {
        case new, grown, shrunk, gone

        fileprivate init?(before: Int, now: Int) {
            if before == now { return nil }
            self = before == 0 ? .new : now == 0 ? .gone : before < now ? .grown : .shrunk
        }

        fileprivate var level: Report.Level {
            switch self {
            case .new, .grown: .error
            case .shrunk, .gone: .good
            }
        }
    }

    struct Change {
        let kind: Kind
        /// The finding, with the number of documents that have it now or, if it is gone, had it then.
        let finding: CheckSummary.Finding
        let before, now: Int
    }

    let earlier: CheckSummary
    private let isOtherSchema: Bool
    /// The changes of the findings between the two checks, sorted by kind; in each kind, the largest change comes
    /// first.
    let changes: [Change]

    init(_ now: CheckSummary, since earlier: CheckSummary) {
        self.earlier = earlier
        isOtherSchema = now.schema != earlier.schema
        let then = Dictionary(earlier.findings.map { ($0.key, $0) }) { first, _ in first }
        let found = Set(now.findings.map(\.key))
        // A finding counts as gone only if the newer check read its collection.
        let gone = earlier.findings.filter { !found.contains($0.key) && now.collections.contains($0.collection) }
        let pairs =
            now.findings.map { ($0, then[$0.key]?.documents ?? 0, $0.documents) }
            + gone.map { ($0, $0.documents, 0) }
        let changes = pairs.compactMap { finding, before, now in
            Kind(before: before, now: now).map { Change(kind: $0, finding: finding, before: before, now: now) }
        }
        self.changes = Kind.allCases.flatMap { kind in
            changes.filter { $0.kind == kind }.sorted { left, right in
                let (leftChange, rightChange) = (abs(left.now - left.before), abs(right.now - right.before))
                return leftChange == rightChange
                    ? left.finding.key.lexicographicallyPrecedes(right.finding.key) : leftChange > rightChange
            }
        }
    }

    func count(_ kind: Kind) -> Int { changes.count { $0.kind == kind } }

    var sentence: String {
        let schema = isOtherSchema ? " against another schema (\(earlier.schema))" : ""
        let when = "the check of \(earlier.at)\(schema)"
        guard !changes.isEmpty else { return "Nothing changed since \(when)." }
        return "Since \(when): \(Kind.allCases.map { "\(count($0).grouped) \($0.rawValue)" }.joined(separator: ", "))."
    }

    var table: Report.Table {
        Report.Table(
            title: sentence, columns: ["change", .number("before"), .number("now"), "collection", "rule", "path"],
            rows: changes.map { change in
                let kind = Report.Cell(change.kind.rawValue, level: change.kind.level)
                return [kind, .count(change.before), .count(change.now)] + change.finding.cells
            })
    }

    var json: ReportValue {
        [
            "since": earlier.at.iso8601, "schema": earlier.schema, "new": count(.new), "grown": count(.grown),
            "shrunk": count(.shrunk), "gone": count(.gone),
            "changes": changes.map { change in
                [
                    "change": change.kind.rawValue, "collection": change.finding.collection,
                    "rule": change.finding.rule, "path": change.finding.path, "before": change.before,
                    "now": change.now,
                ] as ReportValue
            },
        ]
    }
}
