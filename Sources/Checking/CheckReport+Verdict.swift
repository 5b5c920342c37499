internal import BSON
internal import SchemaChange
internal import ServerSchema

extension CheckReport {
    /// Whether the documents, the limit and the change are all known to be safe.
    public var isSafe: Bool { [documentsSeverity, limitSeverity, changeSeverity].allSatisfy { $0 == .safe } }

    /// Who stops syncing, or does not fit any more.
    public var documentsSeverity: DeployVerdict.Severity {
        if verdict.stopping + verdict.possiblyStopping + failingInLedger > 0 || !lost.isEmpty { return .harmful }
        let isOpen = jobs.contains { !$0.unfinished.isEmpty || !$0.gaps.isEmpty }
        return isPartial || !absent.isEmpty || isOpen ? .unknown : .safe
    }

    /// Whether sync itself stops; a validator stops nothing.
    public var limitSeverity: DeployVerdict.Severity {
        guard dialect == .appServices else { return .safe }
        switch verdict.band {
        case .syncWillStop, .syncHasStopped: return .harmful
        case .atRisk: return .unknown
        case .safe, .unproven, .documentsWillStop: return isPartial || isLedgerUnread ? .unknown : .safe
        }
    }

    /// What the change does to sync and to the clients.
    public var changeSeverity: DeployVerdict.Severity {
        guard let change else {
            return statedChange?["severity"]?.text.flatMap { DeployVerdict.Severity(rawValue: $0) } ?? .unknown
        }
        switch change.verdict {
        case .breaking: return .harmful
        case .versioned: return .unknown
        case .served, .nonBreaking, nil: return .safe
        }
    }
}
