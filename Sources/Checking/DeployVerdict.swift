public import ServerSchema

/// The verdict on deploying a new schema: whether documents, or the sync engine as a whole, stop syncing.
///
/// A resync records every failing document again in the ledger of unsynced documents. The ledger's projected size is
/// therefore the number of documents that are in the current ledger, or fail, or both.
public struct DeployVerdict: Hashable, Sendable {
    /// The number of entries in the ledger of unsynced documents at which the sync engine stops by default; the
    /// vendor's support can raise it.
    public static var defaultLimit: Int { 100_000 }

    /// The outcomes of deploying the new schema, from the best to the worst.
    public enum Band: String, Hashable, Sendable, Codable, CaseIterable {
        /// No document is certain to stop syncing, and the ledger of unsynced documents does not reach its limit even
        /// if all possible failures happen.
        case safe
        /// No document that was read is certain to stop syncing, and the ledger of unsynced documents does not reach
        /// its limit, but the check left out documents on purpose.
        case unproven
        /// Documents stop syncing, but too few for the ledger of unsynced documents to reach its limit.
        ///
        /// Documents that might stop syncing count as well if the operator asks for it.
        case documentsWillStop = "documents_will_stop"
        /// The ledger of unsynced documents reaches its limit if all possible failures happen; nothing would sync then.
        case syncMightStop = "at_risk"
        /// The ledger of unsynced documents reaches its limit after the new schema is deployed, so nothing syncs then.
        case syncWillStop = "sync_will_stop"
        /// The ledger of unsynced documents has already reached its limit under the active schema, so nothing syncs.
        case syncHasStopped = "sync_has_stopped"
    }

    /// The severities of one part of the verdict, from the best to the worst.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The part of the verdict shows no reason against deploying the new schema.
        case safe
        /// The part of the verdict shows that deploying the new schema might be unsafe, or not everything was checked.
        case unknown
        /// The part of the verdict shows that deploying the new schema is unsafe.
        case unsafe = "harmful"
    }

    /// The size of the ledger of unsynced documents before the new schema is deployed.
    ///
    /// `nil`, which counts as 0, if there is no ledger or none was read.
    public var ledger: LedgerCount?
    /// The number of documents that are certain not to fit and are not in the ledger of unsynced documents.
    ///
    /// If sync is terminated, the documents in the ledger count as well, because the ledger is deleted.
    public var newCertain: Int
    /// The number of documents that might not fit and are not in the ledger of unsynced documents.
    ///
    /// If sync is terminated, the documents in the ledger count as well, because the ledger is deleted.
    public var newPossible: Int
    /// The number of documents that are certain to fail under the new schema, but not under the active one; `nil` if
    /// there is no active schema to compare with.
    ///
    /// Not used for ``projected``, because a resync also records the documents that fail already.
    public var newlyFailing: Int?
    /// The number of documents that might stop syncing; 0 if the operator does not want these documents to count.
    ///
    /// Not part of ``projected``, because it is not certain that they stop.
    public var possiblyStopping = 0
    /// Whether documents that might stop syncing count like documents that stop.
    public var countsPossible = false
    /// Whether no ledger of unsynced documents was read although there may be one; ``headroom`` is then not known.
    public var isLedgerUnread = false
    /// The number of entries in the ledger of unsynced documents at which the sync engine stops.
    public var limit: Int
    /// Whether the check left out documents on purpose, so that low counts do not prove that the new schema is safe.
    public var isPartial = false
    /// The state of sync in the app's export; `nil` if the export does not say.
    public var syncState: SyncConfiguration.State?

    /// Creates a verdict from the counts.
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

    /// The number of documents that stop syncing: those that newly fail or, without an active schema, those that fail
    /// and are not in the ledger of unsynced documents.
    public var stopping: Int { newlyFailing ?? newCertain }
    /// The number of entries in the ledger of unsynced documents before the new schema is deployed.
    ///
    /// The number is 0 if sync is terminated. Terminating sync deletes its metadata, including the ledger; the new
    /// ledger is empty at first.
    public var recorded: Int { syncState == .terminated ? 0 : ledger?.entries ?? 0 }
    /// The number of entries in the ledger after the new schema is deployed, if only the certain failures happen.
    public var projected: Int { recorded + newCertain }
    /// The number of entries in the ledger after the new schema is deployed, if all possible failures happen.
    public var pessimistic: Int { projected + newPossible }
    /// The number of entries that the ledger of unsynced documents can still take before it reaches its limit; negative
    /// if it has reached the limit.
    public var headroom: Int { limit - 1 - recorded }

    /// The outcome of deploying the new schema.
    public var band: Band {
        if recorded >= limit { return .syncHasStopped }
        if projected >= limit { return .syncWillStop }
        if pessimistic >= limit { return .syncMightStop }
        if stopping + possiblyStopping > 0 { return .documentsWillStop }
        return isPartial ? .unproven : .safe
    }
}

extension DeployVerdict.Severity: Comparable {
    /// Orders from the least severe to the most severe: safe, unknown, unsafe.
    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension DeployVerdict.Band: Comparable {
    /// Orders from the best outcome to the worst.
    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
