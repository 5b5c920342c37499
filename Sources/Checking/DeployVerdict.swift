public import ServerSchema

/// Whether a schema can be deployed without stopping documents, or the sync engine.
///
/// A resync records every failing document again, so the projection is the union of the ledger and the failing ones.
public struct DeployVerdict: Hashable, Sendable {
    /// The entries at which the sync engine stops, unless support has raised them.
    public static var defaultLimit: Int { 100_000 }

    /// What happens after the deploy, from the mildest to the worst.
    public enum Band: String, Hashable, Sendable, Codable, CaseIterable {
        /// No document is certain to stop syncing, and the limit is not reached even if all possible ones do.
        case safe
        /// Nothing was found, but documents were left out on purpose.
        case unproven
        /// Documents stop syncing, but not so many that the limit is reached.
        case documentsWillStop = "documents_will_stop"
        /// The limit is reached if the possible ones stop syncing too.
        case atRisk = "at_risk"
        /// The limit is reached: nothing syncs any more.
        case syncWillStop = "sync_will_stop"
        /// The limit was reached before: nothing syncs.
        case syncHasStopped = "sync_has_stopped"
    }

    /// How grave a part of the verdict is, from the mildest.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// Nothing stands against the deploy.
        case safe
        /// Nothing was found, and not everything was looked at.
        case unknown
        /// The deploy does harm.
        case harmful
    }

    /// How much the ledger holds; `nil` when there is none, which counts 0.
    public var ledger: LedgerCount?
    /// The documents that do not fit and that the ledger does not record.
    public var newCertain: Int
    /// The documents that may not fit and that the ledger does not record.
    public var newPossible: Int
    /// The documents that fit the active schema and are certain not to fit the new one; `nil` when there is no active
    /// schema to compare with.
    ///
    /// Never a part of the projection: a resync records those that fail already, too.
    public var newlyFailing: Int?
    /// The documents that may stop syncing, where the operator wants them to weigh as if they did; else 0.
    ///
    /// Never a part of ``projected``: that they do stop is not certain.
    public var possiblyStopping = 0
    /// The entries at which the sync engine stops.
    public var limit: Int
    /// Whether documents were left out on purpose, so that their absence from the counts proves nothing.
    public var isPartial = false
    /// Whether sync runs, as the export of the app has it; `nil` where it does not say.
    public var syncState: SyncConfiguration.State?

    /// Joins the counts.
    public init(
        ledger: LedgerCount?, newCertain: Int, newPossible: Int, newlyFailing: Int? = nil,
        limit: Int = Self.defaultLimit
    ) {
        self.ledger = ledger
        self.newCertain = newCertain
        self.newPossible = newPossible
        self.newlyFailing = newlyFailing
        self.limit = limit
    }

    /// The documents that stop syncing: those that fail anew, or where nobody knows, those that the ledger does not
    /// record.
    public var stopping: Int { newlyFailing ?? newCertain }
    /// The entries that the deploy finds.
    ///
    /// Terminating sync takes its metadata down, the ledger with it, and a new one begins empty.
    public var recorded: Int { syncState == .terminated ? 0 : ledger?.entries ?? 0 }
    /// The entries after the deploy.
    public var projected: Int { recorded + newCertain }
    /// The entries after the deploy if everything possible happens.
    public var pessimistic: Int { projected + newPossible }
    /// The entries that may still be added; negative when the limit is passed already.
    public var headroom: Int { limit - 1 - recorded }

    /// What happens after the deploy.
    public var band: Band {
        if recorded >= limit { return .syncHasStopped }
        if projected >= limit { return .syncWillStop }
        if pessimistic >= limit { return .atRisk }
        if stopping + possiblyStopping > 0 { return .documentsWillStop }
        return isPartial ? .unproven : .safe
    }
}

extension DeployVerdict.Severity: Comparable {
    /// By severity.
    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension DeployVerdict.Band: Comparable {
    /// By severity.
    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
