/// What earlier checks found.
package struct CheckHistory: Sendable {
    /// The checks, the oldest first.
    package private(set) var summaries: [CheckSummary]
    /// What was passed over, a clause each.
    package private(set) var notes: [String]

    /// - Parameter summaries: in any order.
    package init(_ summaries: [CheckSummary], notes: [String] = []) {
        self.summaries = summaries.sorted { $0.at < $1.at }
        self.notes = notes
    }

    /// The most that is named of what was passed over.
    private static let mostNamed = 3

    /// - Parameters:
    ///   - foreign: what is no summary of a check, each with where it is and why.
    ///   - place: where the history is kept.
    package init(_ summaries: [CheckSummary], passedOver foreign: [String], in place: String) {
        var notes = foreign.prefix(Self.mostNamed).map { "passed over in the history: \($0)" }
        if foreign.count > Self.mostNamed {
            notes.append("\((foreign.count - Self.mostNamed).grouped) more passed over in the history \(place)")
        }
        self.init(summaries, notes: notes)
    }

    /// Adds the newest.
    package mutating func add(_ summary: CheckSummary) { summaries.append(summary) }

    /// What changed from the check of the same source that came last before one; `nil` where there was none.
    func difference(at index: Int) -> CheckDifference? {
        let now = summaries[index]
        return summaries[..<index].last { $0.source == now.source }.map { CheckDifference(now, since: $0) }
    }

    /// What changed with the newest.
    var difference: CheckDifference? { summaries.isEmpty ? nil : difference(at: summaries.count - 1) }
}

extension Report.Series {
    /// The trend over the last runs; `nil` for fewer than two.
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
    /// What is followed from run to run; `nil` where a run did not look.
    var lines: [(name: String, level: Report.Level, values: [Int?])] {
        let unsynced = summaries.map(\.unsynced)
        return [
            ("would stop syncing", .error, summaries.map(\.failing)),
            ("might stop syncing", .warning, summaries.map(\.possible)),
        ] + (unsynced.contains { $0 != nil } ? [("in the ledger", .notice, unsynced)] : [])
    }
}
