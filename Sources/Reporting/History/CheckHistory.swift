import BSON
import ServerSchema

/// The counts of earlier checks.
///
/// Reports use them to show a trend and the changes since an earlier check.
package struct CheckHistory: Sendable {
    /// The checks, the oldest first.
    package private(set) var summaries: [CheckSummary]
    /// Notes on files or documents that were ignored when the history was read, one clause each.
    package private(set) var notes: [String]

    /// Creates a history from the counts of checks.
    /// - Parameter summaries: the checks, in any order.
    package init(_ summaries: [CheckSummary], notes: [String] = []) {
        self.summaries = summaries.sorted { $0.at < $1.at }
        self.notes = notes
    }

    /// The maximum number of ignored files or documents that get a note each; one more note counts the others.
    private static let maximumNamed = 3

    /// Creates a history from the counts of checks, with notes on ignored files or documents.
    /// - Parameters:
    ///   - foreign: the ignored files or documents, each with its path or `_id` and the reason.
    ///   - place: the folder or the database that keeps the history.
    package init(_ summaries: [CheckSummary], passedOver foreign: [String], in place: String) {
        var notes = foreign.prefix(Self.maximumNamed).map { "ignored in the history: \($0)" }
        if foreign.count > Self.maximumNamed {
            notes.append("\((foreign.count - Self.maximumNamed).grouped) more ignored in the history \(place)")
        }
        self.init(summaries, notes: notes)
    }

    /// Adds the counts of the newest check.
    package mutating func add(_ summary: CheckSummary) { summaries.append(summary) }

    /// Returns the changes of a check's findings since the previous check of the same source; `nil` if this source was
    /// not checked before.
    func difference(at index: Int) -> CheckDifference? {
        let now = summaries[index]
        return summaries[..<index].last { $0.source == now.source }.map { CheckDifference(now, since: $0) }
    }

    /// The difference of the newest check, as ``difference(at:)`` returns it.
    var difference: CheckDifference? { summaries.isEmpty ? nil : difference(at: summaries.count - 1) }
}

extension CheckHistory {
    /// Returns the headline of a check of the live schema, with the difference from the previous check.
    func compared(_ headline: String) -> String {
        guard let now = summaries.last, let earlier = difference?.earlier else { return headline }
        let change = now.failing - earlier.failing
        let more = change == 0 ? "as many as" : "\(abs(change).grouped) \(change > 0 ? "more" : "fewer") than"
        guard now.failing > 0 || change != 0 else { return headline }
        return "\(headline.hasSuffix(".") ? String(headline.dropLast()) : headline), \(more) at \(earlier.at)."
    }
}

extension Report.Series {
    /// Creates a chart of the history's counts over time; `nil` for fewer than two checks.
    init?(_ history: CheckHistory) {
        let runs = history.summaries
        guard runs.count > 1 else { return nil }
        let dialect = runs.last?.dialect ?? .appServices
        var counts: [(name: String, level: Report.Level, values: [Int?])] = [
            (dialect.consequence, .error, runs.map(\.failing)),
            (dialect.possibleConsequence, .warning, runs.map(\.possible)),
        ]
        if runs.contains(where: { $0.unsynced != nil }) {
            counts.append(("in the ledger", .notice, runs.map(\.unsynced)))
        }
        self.init(
            title: "The last runs", unit: "documents",
            lines: counts.map { name, level, values in
                Line(name: name, level: level, values: values.map { $0.map(Double.init) })
            },
            points: runs.map { "\($0.at)" })
    }
}
