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

extension CheckReport {
    /// What was found in one collection.
    public struct Collection: Hashable, Sendable {
        /// Which.
        public var namespace: Namespace
        /// How many documents were read, and how many failed.
        public var counts: DocumentCounts
        /// How many documents the server says there are; `nil` when it was not asked.
        public var estimatedCount: Int?
        /// The findings, the worst and the largest first.
        public var groups: [ViolationGroup]
        /// The findings that found no room among the groups.
        public var overflowCount: Int
        /// The keywords that no rule judged.
        public var unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword]
        /// Whether the active schema covers it, too; `nil` when there is none to compare with.
        public var isInActive: Bool?
        /// How much it has to do with sync.
        public var scope = SyncScope.synced
        /// Whether its documents count in the verdict.
        public var isCounted = true
        /// The partner that the newer schema adds, so that it keeps its own schema; `nil` where there is none.
        public var partner: Namespace?
        /// How the documents were read.
        public var reading = Reading()

        /// Joins the parts.
        public init(
            namespace: Namespace, counts: DocumentCounts, estimatedCount: Int? = nil, groups: [ViolationGroup] = [],
            overflowCount: Int = 0, unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword] = [],
            isInActive: Bool? = nil
        ) {
            self.namespace = namespace
            self.counts = counts
            self.estimatedCount = estimatedCount
            self.groups = groups
            self.overflowCount = overflowCount
            self.unevaluatedKeywords = unevaluatedKeywords
            self.isInActive = isInActive
        }

        /// What a tally has counted.
        public init(_ tally: Tally, estimatedCount: Int? = nil) {
            self.init(
                namespace: tally.schema.namespace, counts: tally.counts, estimatedCount: estimatedCount,
                groups: tally.violationGroups, overflowCount: tally.overflowCount,
                unevaluatedKeywords: tally.schema.unevaluatedKeywords,
                isInActive: tally.isInActive)
            scope = tally.schema.scope
            isCounted = tally.schema.isCounted
        }
    }
}

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

extension CheckReport.Collection {
    /// How the documents of a collection were read, and what cannot be promised of the result.
    public struct Reading: Hashable, Sendable {
        /// The collection that was read, where it is another than the one that the schema names.
        public var namespace: Namespace?
        /// The moment at which the counts are true; `nil` when they are of no single moment.
        public var clusterTime: ClusterTime?
        /// The documents that changed during the scan and were judged again.
        public var changedCount = 0
        /// Which documents were meant to be read.
        public var selection = Selection.everything
        /// About how many documents the server held back because a filter proves them good; `nil` without such a filter.
        public var passedOverCount: Int?
        /// The documents that the server counted one by one; `nil` when it was not asked.
        public var exactCount: Int?
        /// What is not promised, and why.
        public var missing: [MissingGuarantee] = []

        /// Every document, at no stated moment.
        public init() {}
    }

    /// Which documents were meant to be read.
    public enum Selection: Hashable, Sendable {
        /// All of them.
        case everything
        /// Those that a filter of the operator's matches.
        case matching(BSONDocument)
        /// So many, taken at random.
        case sample(Int)
        /// A share of them, of which others read the rest.
        case part(CheckPart)
    }
}

/// A promise that a check could not keep.
public struct MissingGuarantee: Hashable, Sendable {
    /// What a check promises of the documents that it reads.
    public enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// All counts are true at one moment, whatever was written meanwhile.
        case oneMoment = "one_moment"
        /// The check goes on where it was when its cursor is lost.
        case resumable
        /// Every document is judged.
        case everyDocument = "every_document"
        /// The collection was not replaced by another of its name.
        case sameCollection = "same_collection"
    }

    /// Which promise.
    public var guarantee: Guarantee
    /// Why it is not kept, a clause.
    public var reason: String

    /// Joins the two.
    public init(_ guarantee: Guarantee, _ reason: String) {
        self.guarantee = guarantee
        self.reason = reason
    }
}

extension CheckReport {
    /// Whether documents were left out on purpose, so that nothing can be called safe.
    public var isPartial: Bool { collections.contains { $0.reading.selection != .everything } }
}
