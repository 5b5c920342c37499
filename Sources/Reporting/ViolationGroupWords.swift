import BSON
import Checking
import ServerSchema

/// The texts that reports show with a violation group's row in a table, one line each.
///
/// A violation group is all documents of a collection that have the same violation at the same path.
struct ViolationGroupWords {
    private let group: ViolationGroup
    private let collection: CheckReport.Collection
    private let ids: IDDisplay

    init(_ group: ViolationGroup, of collection: CheckReport.Collection, ids: IDDisplay) {
        (self.group, self.collection, self.ids) = (group, collection, ids)
    }

    /// Returns the columns of a collection's table.
    /// - Parameter hasLevel: whether the rows show their level, as ``finding(isFailure:hasLevel:place:)`` does.
    static func columns(of collection: CheckReport.Collection, hasLevel: Bool) -> [Report.Column] {
        [.number("count")]
            + (collection.judgedCount > 0 ? [Report.Column(title: "share", isNumber: true, omission: 1)] : [])
            + (collection.isInActive == nil ? [] : [.number("new")]) + (hasLevel ? ["level"] : [])
            + ["rule", "path", Report.Column(title: "expected", omission: 2), "found"]
    }

    /// Returns the violation group's row in the table, with the texts that belong to the row.
    /// - Parameters:
    ///   - isFailure: whether the group makes the command exit with code 1.
    ///   - hasLevel: whether the row has a cell with the level; not needed if all rows of the report are certain.
    ///   - place: the position in the schema at which a SARIF report shows the group; `nil` if there is none.
    func finding(isFailure: Bool, hasLevel: Bool, place: SourceLocation? = nil) -> Report.Finding {
        let violation = group.violation
        let level = group.exception == nil ? violation.level.reported : .notice
        let judged = collection.judgedCount
        let numbers =
            [Report.Cell.count(group.count)] + (judged > 0 ? [Report.Cell(Share(group.count, of: judged).text)] : [])
            + (collection.isInActive == nil ? [] : [Report.Cell.count(group.newCount ?? 0)])
        return Report.Finding(
            level: level, isFailure: isFailure, code: "\(violation.rule)", subject: "\(violation.path)",
            place: place, fingerprint: violation.fingerprint(in: collection.namespace),
            acceptance: group.exception?.acceptance.reason,
            message: "\(group.count.documents), \(group.severity): \(violation.path): expected \(violation.expected), "
                + "found \(violation.found)",
            samples: (0..<min(3, group.sampleIDs.count)).compactMap(sample),
            details: [equalKeys, proof, exception].compactMap(\.self),
            asides: [EngineRule.named(violation.rule)?.remedy].compactMap(\.self),
            cells: numbers + (hasLevel ? [severity(level)] : []) + [
                Report.Cell("\(violation.rule)"), .code("\(violation.path)"), Report.Cell(violation.expected),
                Report.Cell(violation.found),
            ], filters: [command])
    }

    /// A cell with the outcome or the level; of the outcomes, only one that stops all users has the colour of an error.
    private func severity(_ level: Report.Level) -> Report.Cell {
        Report.Cell(group.severity, level: group.outcome.map { min(level, $0 == .halts ? .error : .warning) } ?? level)
    }

    /// A clause with the number of values that several documents have, and the most frequent ones; `nil` for a rule
    /// without such values.
    var equalKeys: String? {
        group.equalKeys.map { keys in
            let largest = keys.largest.prefix(3).map { equal in
                let shown = equal.ids.prefix(1).compactMap(ids.text)
                let rest = shown.count < equal.documents && !shown.isEmpty ? ", …" : ""
                let value = ids.sample(equal.value, at: group.violation.path).map { " with \($0)" } ?? ""
                let list = shown.isEmpty ? "" : " (_id \(shown.joined(separator: ", "))\(rest))"
                return "\(equal.documents.documents)\(value)\(list)"
            }
            let more = keys.values > largest.count ? ", …" : ""
            return "\(keys.values.counted("value")) in several documents: \(largest.joined(separator: ", "))\(more)"
        }
    }

    /// The mongosh command that finds the documents of the group.
    var command: String { Self.command(for: group, in: collection.reading.namespace ?? collection.namespace) }

    /// Returns the mongosh command that finds the documents of a group, with a comment if it also finds others.
    static func command(for group: ViolationGroup, in namespace: Namespace) -> String {
        let name = namespace.collection.quotedAsJSON
        let warning = group.filterIsExact ? "" : "  // finds more than these"
        return "db.getCollection(\(name)).find(\(BSONValue.object(group.filter).shellText))\(warning)"
    }

    /// A clause that compares the scan's count with the number that the server finds by the group's filter; `nil` if
    /// the server did not count.
    var proof: String? {
        guard let proven = group.provenCount else { return nil }
        if proven == group.count { return "proven: the server finds the same number" }
        let isExplained = !group.filterIsExact && proven > group.count
        return "the server finds \(proven.grouped): "
            + (isExplained
                ? "the filter also finds others" : "not the scan's count, perhaps because documents changed")
    }

    /// A clause on the exception with which the operator accepts the group, with its end, reason and owner; `nil` if
    /// none.
    var exception: String? {
        group.exception.map(\.acceptance).map { acceptance in
            let end = acceptance.expires.map { " until \($0)" } ?? ""
            let owner = "\(acceptance.owner.printable), \(acceptance.location)"
            return "excepted\(end): \(acceptance.reason.printable) (\(owner))"
        }
    }

    /// Returns the group's sample `_id` at an index, with its value if the report shows values; `nil` if it is hidden.
    private func sample(_ index: Int) -> String? {
        guard let id = ids.text(group.sampleIDs[index]) else { return nil }
        let value = index < group.sampleValues.count ? group.sampleValues[index] : nil
        return ids.sample(value, at: group.violation.path).map { "\(id) (\($0))" } ?? id
    }
}

extension Sequence<ViolationGroup> {
    /// Whether at least one of the groups is not simply certain, so that a table shows the level of each.
    var haveLevels: Bool { contains { $0.severity != "\(Checking.Level.certain)" || $0.exception != nil } }
}

extension ViolationGroup {
    /// The outcome of the group's documents in the sync engine, such as `dropped`, or `might: dropped` if it is not
    /// certain; without one, the level of the violation.
    var severity: String {
        guard let outcome else { return "\(violation.level)" }
        return violation.level == .possible ? "might: \(outcome.rawValue)" : outcome.rawValue
    }
}

extension Checking.Level {
    var reported: Report.Level {
        switch self {
        case .certain: .error
        case .possible, .warning: .warning
        case .info: .notice
        }
    }
}
