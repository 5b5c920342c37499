/// Which findings fail a check.
public struct FailurePolicy: Hashable, Sendable {
    /// Which documents count.
    public enum Documents: Hashable, Sendable {
        /// None.
        case none
        /// Only those that do not fail, or may not fail, under the active schema.
        case new
        /// All.
        case all
    }

    /// Which documents count.
    public var documents: Documents
    /// Whether the documents that may stop syncing count, too.
    public var includesPossible: Bool
    /// Whether a breaking change fails, whatever the documents are.
    public var includesChange: Bool

    /// Joins the parts.
    public init(documents: Documents = .all, includesPossible: Bool = false, includesChange: Bool = false) {
        self.documents = documents
        self.includesPossible = includesPossible
        self.includesChange = includesChange
    }

    /// Whether a report fails.
    ///
    /// Whatever counts otherwise, it fails when sync itself has stopped or would, when an exception has expired, and when
    /// documents lose their schema.
    public func fails(_ report: CheckReport) -> Bool {
        if report.verdict.band >= .syncWillStop || report.exceptions?.expired.isEmpty == false { return true }
        if !report.lost.isEmpty || includesChange && report.changeSeverity == .harmful { return true }
        let counts = report.total.unexcepted
        switch documents {
        case .none: return false
        case .new: return counts.newlyFailing > 0 || includesPossible && counts.newlyPossible > 0
        case .all: return counts.certain > 0 || includesPossible && counts.possible > 0
        }
    }
}
