package import BSON

/// What an earlier run of a check found.
package struct HistoryPoint: Hashable, Sendable {
    /// When it ended.
    package var at: ServerTime
    /// The documents that would stop syncing.
    package var failing: Int
    /// The documents that might stop syncing.
    package var possible: Int
    /// The documents of the ledger; `nil` where none was read.
    package var unsynced: Int?

    /// Joins the parts.
    package init(at: ServerTime, failing: Int, possible: Int, unsynced: Int? = nil) {
        self.at = at
        self.failing = failing
        self.possible = possible
        self.unsynced = unsynced
    }
}

extension Report.Series {
    /// The trend over the last runs, the oldest first; `nil` for fewer than two.
    init?(_ history: [HistoryPoint]) {
        guard history.count > 1 else { return nil }
        let unsynced = history.map { $0.unsynced.map(Double.init) }
        self.init(
            title: "The last runs", unit: "documents",
            lines: [
                Line(name: "would stop syncing", level: .error, values: history.map { Double($0.failing) }),
                Line(name: "might stop syncing", level: .warning, values: history.map { Double($0.possible) }),
            ]
                + (unsynced.contains { $0 != nil }
                    ? [Line(name: "in the ledger", level: .notice, values: unsynced)] : []),
            points: history.map { "\($0.at)" })
    }
}
