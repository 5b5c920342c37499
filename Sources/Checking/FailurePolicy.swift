/// Which findings fail a check.
public struct FailurePolicy: Hashable, Sendable {
    /// Whether only the documents count that do not fail, or may not fail, under the active schema.
    public var onlyNew: Bool
    /// Whether the documents that may stop syncing count, too.
    public var includesPossible: Bool

    /// Joins the two.
    public init(onlyNew: Bool = false, includesPossible: Bool = false) {
        self.onlyNew = onlyNew
        self.includesPossible = includesPossible
    }

    /// Whether a report fails.
    ///
    /// Whatever counts otherwise, it fails when sync itself would stop, when an exception has expired, and when
    /// documents lose their schema.
    public func fails(_ report: CheckReport) -> Bool {
        if report.verdict.band == .syncWillStop || report.exceptions?.expired.isEmpty == false { return true }
        if !report.lost.isEmpty { return true }
        let counts = report.total.unexcepted
        let certain = onlyNew ? counts.newlyFailing : counts.certain
        let possible = onlyNew ? counts.newlyPossible : counts.possible
        return certain > 0 || includesPossible && possible > 0
    }
}
