/// Which findings fail a check.
public struct FailurePolicy: Hashable, Sendable {
    /// Which documents count.
    public enum Documents: String, Hashable, Sendable {
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
        report.verdict.band >= .syncWillStop || failsByDocuments(report) || failsByChange(report)
    }

    /// Whether it fails because of what the change does to sync and the clients.
    public func failsByChange(_ report: CheckReport) -> Bool { includesChange && report.changeSeverity == .harmful }

    /// Whether it fails because of the documents.
    public func failsByDocuments(_ report: CheckReport) -> Bool {
        if report.exceptions?.expired.isEmpty == false || !report.lost.isEmpty { return true }
        let counts = report.total.unexcepted
        switch documents {
        case .none: return false
        case .new: return counts.newlyFailing > 0 || includesPossible && counts.newlyPossible > 0
        case .all: return counts.certain > 0 || includesPossible && counts.possible > 0
        }
    }

    /// Whether it fails because of a group of documents.
    public func fails(_ group: ViolationGroup) -> Bool {
        guard group.exception == nil, group.violation.level >= (includesPossible ? .possible : .certain) else {
            return false
        }
        switch documents {
        case .none: return false
        case .new: return (group.newCount ?? group.count) > 0
        case .all: return true
        }
    }
}
