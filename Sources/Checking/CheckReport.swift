public import BSON
public import SchemaChange
public import ServerSchema

/// What a check found, ready to be rendered.
public struct CheckReport: Sendable {
    /// Where the documents came from, without credentials.
    public var source: String
    /// What the active schema was read from; `nil` when there is none to compare with.
    public var active: String?
    /// Whose rules the documents were judged by.
    public var dialect = Dialect.appServices
    /// One entry per collection that the schema covers, in the schema's order.
    public var collections: [Collection]
    /// The collections that only the active schema covers.
    public var removed: [RemovedCollection]
    /// The collections that the schema covers and that do not exist.
    public var absent: [Namespace]
    /// What changes from the active schema; `nil` when there is none to compare with.
    public var change: DiffReport?
    /// What an earlier check said of the change, as its report for machines has it; `nil` where ``change`` says it.
    public var statedChange: BSONDocument?
    /// Which part of a check it is of; `nil` for the whole.
    public var part: PartOfCheck?
    /// The links to objects that become embedded ones; empty where none do, or nobody looked.
    public var backlinks: [Backlinks] = []
    /// What jobs did to the collections, as far as the state database was asked.
    public var jobs: [JobTrace] = []
    /// What the app's export says of sync.
    public var sync: SyncCircumstances
    /// What became of the operator's exceptions.
    public var exceptions: ExceptionUse?
    /// What the documents and the limit make of the deploy, in numbers.
    public var verdict: DeployVerdict
    /// Whether documents that might stop syncing weigh as those that do.
    private var countsPossible = false
    /// Whether nobody looked for a ledger, so that the limit is not known to have room.
    public var isLedgerUnread = false
    /// What the reader should know beside the findings, a clause each.
    public var notes: [String]
    /// How long the check took.
    public var duration: Duration

    /// Joins the parts and projects the ledger from the collections' counts.
    /// - Parameter ledger: How much the ledger holds; `nil` when there is none.
    public init(
        source: String, active: String? = nil, collections: [Collection], removed: [RemovedCollection] = [],
        absent: [Namespace] = [], change: DiffReport? = nil,
        sync: SyncCircumstances = SyncCircumstances(active: nil, new: nil), ledger: LedgerCount?,
        limit: Int = DeployVerdict.defaultLimit, exceptions: ExceptionUse? = nil,
        notes: [String] = [], duration: Duration
    ) {
        self.source = source
        self.active = active
        self.collections = collections
        self.removed = removed
        self.absent = absent
        self.change = change
        self.sync = sync
        self.exceptions = exceptions
        self.notes = notes
        self.duration = duration
        let total = collections.filter(\.isCounted).reduce(into: DocumentCounts()) { $0 += $1.counts }
        // A ledger that begins anew records what the old one did, too.
        let isFresh = sync.state == .terminated
        verdict = DeployVerdict(
            ledger: ledger, newCertain: isFresh ? total.certain : total.newCertain,
            newPossible: isFresh ? total.possible : total.newPossible,
            newlyFailing: total.changes?.newlyFailing, limit: limit)
        verdict.isPartial = isPartial
        verdict.syncState = sync.state
    }

    /// The counts of all collections together that count in the verdict.
    public var total: DocumentCounts {
        collections.filter(\.isCounted).reduce(into: DocumentCounts()) { $0 += $1.counts }
    }

    /// The documents read of all collections.
    public var readCount: Int { collections.reduce(0) { $0 + $1.counts.read } }

    /// Lets what may stop syncing weigh as what does, save in the projection, which tells the two apart.
    public mutating func countPossible() {
        verdict.possiblyStopping = total.changes?.newlyPossible ?? total.newPossible
        countsPossible = true
    }

    /// The documents that do not sync and that the ledger records, where no other document would stop syncing; 0 with
    /// an active schema, which shows what fails already.
    ///
    /// Documents with an exception do not count.
    public var failingInLedger: Int {
        guard verdict.ledger != nil, verdict.newlyFailing == nil, verdict.stopping + verdict.possiblyStopping == 0
        else { return 0 }
        let unexcepted = total.unexcepted
        return unexcepted.certain + (countsPossible ? unexcepted.possible : 0)
    }

    /// The removed collections that lose something: those that hold documents, where one without a schema does not sync.
    public var lost: [RemovedCollection] {
        dialect == .jsonSchema ? [] : removed.filter { $0.documentCount != 0 }
    }
}

/// A collection that the active schema covers and the new one does not: none of its documents syncs any more.
public struct RemovedCollection: Hashable, Sendable {
    /// Which.
    public var namespace: Namespace
    /// About how many documents it holds; `nil` when they cannot be counted.
    public var documentCount: Int?

    /// Joins the two.
    public init(namespace: Namespace, documentCount: Int?) {
        self.namespace = namespace
        self.documentCount = documentCount
    }
}
