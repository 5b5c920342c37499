public import BSON
public import ServerSchema

/// What a check found, ready to be rendered.
public struct CheckReport: Hashable, Sendable {
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
    /// What became of the operator's exceptions.
    public var exceptions: ExceptionUse?
    /// Whether the schema can be deployed.
    public var verdict: DeployVerdict
    /// What the reader should know beside the findings, a clause each.
    public var notes: [String]
    /// How long the check took.
    public var duration: Duration

    /// Joins the parts and projects the ledger from the collections' counts.
    /// - Parameter ledger: How much the ledger holds; `nil` when there is none.
    public init(
        source: String, active: String? = nil, collections: [Collection], removed: [RemovedCollection] = [],
        ledger: LedgerCount?, limit: Int = DeployVerdict.defaultLimit, exceptions: ExceptionUse? = nil,
        notes: [String] = [], duration: Duration
    ) {
        self.source = source
        self.active = active
        self.collections = collections
        self.removed = removed
        self.exceptions = exceptions
        self.notes = notes
        self.duration = duration
        let total = collections.filter(\.isCounted).reduce(into: DocumentCounts()) { $0 += $1.counts }
        verdict = DeployVerdict(
            ledger: ledger, newCertain: total.newCertain, newPossible: total.newPossible,
            newlyFailing: total.changes?.newlyFailing, limit: limit)
        verdict.isPartial = isPartial
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
    }

    /// The removed collections that lose something: those that hold documents, where one without a schema does not sync.
    public var lost: [RemovedCollection] {
        dialect == .jsonSchema ? [] : removed.filter { $0.documentCount != 0 }
    }

    /// The documents of the removed collections, as far as they could be counted.
    public var removedDocuments: Int { removed.reduce(0) { $0 + ($1.documentCount ?? 0) } }
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
