/// The results of earlier checks.
package struct CheckHistory: Sendable {
    /// The checks, the oldest first.
    package private(set) var summaries: [CheckSummary]
    /// Notes on entries that were passed over, one clause each.
    package private(set) var notes: [String]

    /// - Parameter summaries: the checks, in any order.
    package init(_ summaries: [CheckSummary], notes: [String] = []) {
        self.summaries = summaries.sorted { $0.at < $1.at }
        self.notes = notes
    }

    /// The maximum number of notes that each name an entry that was passed over.
    private static let mostNamed = 3

    /// - Parameters:
    ///   - foreign: the entries that are not a summary of a check, each with its place and the reason.
    ///   - place: where the history is kept.
    package init(_ summaries: [CheckSummary], passedOver foreign: [String], in place: String) {
        var notes = foreign.prefix(Self.mostNamed).map { "ignored in the history: \($0)" }
        if foreign.count > Self.mostNamed {
            notes.append("\((foreign.count - Self.mostNamed).grouped) more ignored in the history \(place)")
        }
        self.init(summaries, notes: notes)
    }

    /// Adds the newest check.
    package mutating func add(_ summary: CheckSummary) { summaries.append(summary) }

    /// Returns the changes since the last earlier check of the same source; `nil` if there was none.
    func difference(at index: Int) -> CheckDifference? {
        let now = summaries[index]
        return summaries[..<index].last { $0.source == now.source }.map { CheckDifference(now, since: $0) }
    }

    /// The changes that the newest check found; `nil` if there is no earlier one to compare with.
    var difference: CheckDifference? { summaries.isEmpty ? nil : difference(at: summaries.count - 1) }
}

extension Report.Series {
    /// Creates the trend over the last runs; `nil` for fewer than two.
    init?(_ history: CheckHistory) {
        let runs = history.summaries
        guard runs.count > 1 else { return nil }
        self.init(
            title: "The last runs", unit: "documents",
            lines: history.lines.map { line in
                Line(name: line.name, level: line.level, values: line.values.map { $0.map(Double.init) })
            },
            points: runs.map { "\($0.at)" })
    }
}

extension CheckHistory {
    /// The counts that are followed from run to run; `nil` for a run that did not count it.
    var lines: [(name: String, level: Report.Level, values: [Int?])] {
        let unsynced = summaries.map(\.unsynced)
        return [
            ("would stop syncing", .error, summaries.map(\.failing)),
            ("might stop syncing", .warning, summaries.map(\.possible)),
        ] + (unsynced.contains { $0 != nil } ? [("in the ledger", .notice, unsynced)] : [])
    }
}
