public import BSON
public import SchemaChange
public import ServerSchema

/// The results of a check, ready to be rendered.
public struct CheckReport: Sendable {
    /// The name of the source of the documents, such as a path or a connection string, without credentials.
    public var source: String
    /// The rules that judged the documents.
    public var rules = Rules()
    /// The comparison with the active schema; `nil` if there is no active schema.
    public var active: ActiveSchema?
    /// The results for each collection that the checked schema covers, in the order of that schema.
    public var collections: [Collection]
    /// The collections that the checked schema covers but that do not exist in the deployment.
    public var absent: [Namespace]
    /// The part of a check that this report covers; `nil` for a whole check.
    public var part: PartOfCheck?
    /// The effects that jobs had on each collection; empty without an active schema, and for documents of a dump.
    public var jobs: [JobTrace] = []
    /// The sync settings in the app's export.
    public var sync: SyncCircumstances
    /// The use of the operator's exceptions; `nil` if there is no file of exceptions.
    public var exceptions: ExceptionUse?
    /// The operator's limits for failing documents, each with the number of documents that fail; empty without limits.
    public var limits: [FailingLimitUse] = []
    /// The numbers that decide whether documents stop syncing once the checked schema is deployed, and whether the
    /// ledger of unsynced documents reaches its limit.
    public var verdict: DeployVerdict
    /// Remarks for the reader of the report on facts that no other property shows; each remark is a clause.
    public var notes: [String]
    /// The duration of the check.
    public var duration: Duration

    /// Creates a report, and computes how large the ledger of unsynced documents will be once the checked schema is
    /// deployed.
    ///
    /// The size follows from the counts of the collections.
    /// - Parameter ledger: The size of the ledger before the schema is deployed; `nil` if there is no ledger.
    public init(
        source: String, active: ActiveSchema? = nil, collections: [Collection], absent: [Namespace] = [],
        sync: SyncCircumstances = SyncCircumstances(active: nil, new: nil), ledger: LedgerCount?,
        limit: Int = DeployVerdict.defaultLimit, exceptions: ExceptionUse? = nil,
        notes: [String] = [], duration: Duration
    ) {
        self.source = source
        self.active = active
        self.collections = collections
        self.absent = absent
        self.sync = sync
        self.exceptions = exceptions
        self.notes = notes
        self.duration = duration
        let total = collections.filter(\.isCounted).reduce(into: DocumentCounts()) { $0 += $1.counts }
        // Terminating sync deletes the ledger of unsynced documents. When sync is enabled again, a new ledger lists the
        // documents of the deleted one again.
        let isFresh = sync.state == .terminated
        verdict = DeployVerdict(
            ledger: ledger, newCertain: isFresh ? total.certain : total.newCertain,
            newPossible: isFresh ? total.possible : total.newPossible,
            newlyFailing: total.changes?.newlyFailing, limit: limit)
        verdict.isPartial = isPartial
        verdict.syncState = sync.state
    }

    /// The sum of the counts of all collections whose documents count in the verdict.
    public var total: DocumentCounts {
        collections.filter(\.isCounted).reduce(into: DocumentCounts()) { $0 += $1.counts }
    }

    /// The number of documents read, in all collections.
    public var readCount: Int { collections.reduce(0) { $0 + $1.counts.read } }

    /// Makes documents that might stop syncing count like documents that stop; does not change
    /// ``DeployVerdict/projected``.
    public mutating func countPossible() {
        verdict.possiblyStopping = total.changes?.newlyPossible ?? total.newPossible
        verdict.countsPossible = true
    }

    /// The number of failing documents that the ledger of unsynced documents already lists.
    ///
    /// 0 if deploying the checked schema makes documents stop syncing, or if no ledger was read. Also 0 if there is an
    /// active schema, because the verdicts under that schema show which documents fail already. Documents whose
    /// failures are all covered by exceptions do not count. Documents that might fail count only after
    /// ``countPossible()``.
    public var failingInLedger: Int {
        guard verdict.ledger != nil, verdict.newlyFailing == nil, verdict.stopping + verdict.possiblyStopping == 0
        else { return 0 }
        let unexcepted = total.unexcepted
        return unexcepted.certain + (verdict.countsPossible ? unexcepted.possible : 0)
    }

    /// The collections that only the active schema covers and that may hold documents; empty without Device Sync.
    ///
    /// The documents of these collections do not sync once the checked schema is deployed.
    public var lost: [RemovedCollection] {
        isOfDeviceSync ? active?.removed.filter { $0.documentCount != 0 } ?? [] : []
    }

    /// Whether Device Sync serves the documents.
    ///
    /// Only Device Sync has a ledger with a limit, and only Device Sync stops at a breaking change of the schema.
    public var isOfDeviceSync: Bool { rules.dialect.isOfSync && (rules.engine ?? .deviceSync) == .deviceSync }

    /// Whether the change of the schema is a part of the verdict.
    ///
    /// A change to an App Services schema has consequences only in Device Sync, and is not judged for other engines.
    public var isChangeJudged: Bool { rules.hasSchema && !rules.isLive && (!rules.dialect.isOfSync || isOfDeviceSync) }

    /// The number of documents that halt the engine by a finding that no exception covers.
    public var haltingCount: Int { total.engine.map { $0.halting - $0.haltingExcepted } ?? 0 }
}

extension CheckReport {
    /// The rules that judged the documents.
    public struct Rules: Hashable, Sendable {
        /// The dialect of the schema.
        public var dialect = Dialect.appServices
        /// The sync engine whose rules judged the documents in addition to the schema; `nil` if none was named.
        public var engine: Engine?
        /// Whether the operator named a schema; otherwise, the operator named only an engine and collections.
        public var hasSchema = true
        /// Whether the checked schema is the one that is live, so that there is no deploy to judge.
        public var isLive = false

        /// Creates the rules of App Services schemas.
        public init() {}
    }

    /// The comparison of the checked schema with the active one.
    public struct ActiveSchema: Sendable {
        /// The name of the source of the active schema, such as its path.
        public var name: String
        /// The differences from the active schema; `nil` if the check did not compare the schemas.
        public var difference: Difference?
        /// The collections that only the active schema covers.
        public var removed: [RemovedCollection]
        /// The counts of the links to each type that becomes embedded; empty if no type becomes embedded, or if links
        /// were not counted.
        public var backlinks: [Backlinks] = []

        /// Creates a comparison that has no counts of links.
        public init(name: String, difference: Difference? = nil, removed: [RemovedCollection] = []) {
            (self.name, self.difference, self.removed) = (name, difference, removed)
        }

        /// The differences that the check computed; `nil` if it computed none.
        public var change: DiffReport? { if case .computed(let report)? = difference { report } else { nil } }
        /// The differences in the JSON report from which this report was read; `nil` if there are none.
        public var statedChange: BSONDocument? { if case .stated(let json)? = difference { json } else { nil } }
    }

    /// The differences between the active schema and the new one.
    public enum Difference: Sendable {
        /// The differences that the check computed.
        case computed(DiffReport)
        /// The differences in the JSON report from which this report was read.
        case stated(BSONDocument)
    }
}

/// A collection that only the active schema covers; once the checked schema is deployed, none of its documents sync.
public struct RemovedCollection: Hashable, Sendable {
    /// The collection's namespace.
    public var namespace: Namespace
    /// The approximate number of the collection's documents; `nil` if they cannot be counted.
    public var documentCount: Int?

    /// Creates an instance from its parts.
    public init(namespace: Namespace, documentCount: Int?) {
        self.namespace = namespace
        self.documentCount = documentCount
    }
}

extension CheckReport {
    /// The results for one collection.
    public struct Collection: Hashable, Sendable {
        /// The collection's namespace.
        public var namespace: Namespace
        /// The numbers of documents read and of documents that failed.
        public var counts: DocumentCounts
        /// The approximate number of documents, from the server's metadata; `nil` if the server was not asked.
        public var estimatedCount: Int?
        /// The groups of findings: the worst level first, then the worst outcome in the engine, then the largest group.
        public var groups: [ViolationGroup]
        /// The number of findings that were not grouped, because there were too many groups or a field's name was too
        /// long.
        public var overflowCount: Int
        /// The keywords of the schema that no rule judges.
        public var unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword]
        /// Whether the active schema also covers the collection; `nil` if there is no active schema to compare with.
        public var isInActive: Bool?
        /// The collection's role in sync.
        public var scope = SyncScope.synced
        /// Whether the collection's documents count in the verdict.
        public var isCounted = true
        /// The partner collection, which has or will have the changed schema, so that this collection keeps its schema.
        ///
        /// `nil` if there is no partner collection.
        public var partner: Namespace?
        /// The name by which programs call the collection in a Prisma client, such as `user`; `nil` in other dialects.
        public var clientName: String?
        /// The facts about how the documents were read.
        public var reading = Reading()

        /// The number of documents that were judged: those read, and those that a prefilter proved to fit.
        public var judgedCount: Int { counts.read + (reading.passedOverCount ?? 0) }

        /// Creates an instance from its parts.
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

        /// Creates the results from the counts and groups of a tally.
        public init(_ tally: Tally, estimatedCount: Int? = nil) {
            self.init(
                namespace: tally.schema.namespace, counts: tally.counts, estimatedCount: estimatedCount,
                groups: tally.violationGroups, overflowCount: tally.overflowCount,
                unevaluatedKeywords: tally.schema.unevaluatedKeywords,
                isInActive: tally.isInActive)
            clientName = tally.schema.clientName
            scope = tally.schema.scope
            isCounted = tally.schema.isCounted
        }
    }
}

extension CheckReport {
    /// Whether deploying the checked schema is known to be safe with regard to the documents, the limit of the ledger
    /// of unsynced documents, and the change of the schema.
    public var isSafe: Bool { [documentsSeverity, limitSeverity, changeSeverity].allSatisfy { $0 == .safe } }

    /// The severity of the effect that deploying the checked schema has on the documents.
    ///
    /// Unsafe if documents do not sync or lose their schema. Unknown if documents or collections were not checked, if
    /// jobs are unfinished or their effects are not fully known, or if a verdict is wrong.
    public var documentsSeverity: DeployVerdict.Severity {
        let isFailing = verdict.stopping + verdict.possiblyStopping + failingInLedger + haltingCount > 0
        if isFailing || !lost.isEmpty { return .unsafe }
        let isOpen = jobs.contains { !$0.unfinished.isEmpty || !$0.gaps.isEmpty }
        return isPartial || !absent.isEmpty || isOpen || wrongCount > 0 ? .unknown : .safe
    }

    /// The severity of the effect that deploying the checked schema has on the ledger of unsynced documents.
    ///
    /// Always safe without Device Sync. When the ledger reaches its limit, no document syncs any more.
    public var limitSeverity: DeployVerdict.Severity {
        guard isOfDeviceSync else { return .safe }
        switch verdict.band {
        case .syncWillStop, .syncHasStopped: return .unsafe
        case .syncMightStop: return .unknown
        case .safe, .unproven, .documentsWillStop: return isPartial || verdict.isLedgerUnread ? .unknown : .safe
        }
    }

    /// The severity of the schema change for sync and for the clients.
    ///
    /// Unsafe if the verdict on the change is `breaking`, or if documents hold values only under the older name of a
    /// renamed field. Unknown if the verdict is `versioned`, if a removed field may be a rename, or if no change is
    /// known. Otherwise safe; always safe if ``isChangeJudged`` is false. With a Prisma schema, only older clients
    /// count here; ``documentsSeverity`` covers newer clients. If the active schema is a validator, what the client
    /// reads of the documents that it accepts counts here.
    public var changeSeverity: DeployVerdict.Severity {
        guard isChangeJudged else { return .safe }
        switch active?.difference {
        case nil: return .unknown
        case .stated(let json):
            return json["severity"]?.text.flatMap { DeployVerdict.Severity(rawValue: $0) } ?? .unknown
        case .computed(let change):
            switch rules.dialect == .prisma && !change.isOfClient ? change.clientVerdict : change.verdict {
            case .breaking: return .unsafe
            case _ where openMoves.contains { $0.isStated && $0.documents != nil }: return .unsafe
            case .versioned: return .unknown
            case .served, .nonBreaking, nil: return openMoves.isEmpty ? .safe : .unknown
            }
        }
    }

    /// The fields of which new clients may not see values; empty if the change is not judged.
    public var openMoves: [ValueMove] {
        isChangeJudged ? active?.change?.moves.filter(\.isOpen) ?? [] : []
    }

    /// The breaking changes of the schema that the operator does not accept.
    ///
    /// With a Prisma schema, these are only the changes that break older clients.
    public var unacceptedChanges: [SchemaChange] {
        guard let change = active?.change else { return [] }
        return change.changes.filter {
            (rules.dialect == .prisma ? $0.client : $0.kind.verdict) == .breaking && change.acceptance(of: $0) == nil
        }
    }

    /// Whether the operator accepts every breaking change of the schema, as far as the changes are known.
    public var isChangeAccepted: Bool {
        switch active?.difference {
        case nil: false
        case .stated(let json): json["unaccepted"]?.integer == 0
        case .computed: unacceptedChanges.isEmpty
        }
    }
}

extension CheckReport.Collection {
    /// The facts about how a collection's documents were read, and the guarantees that the result lacks.
    public struct Reading: Hashable, Sendable {
        /// The collection that was read; `nil` if it is the one that the schema names.
        public var namespace: Namespace?
        /// The cluster time as of which the counts are consistent; `nil` if there is no such time.
        public var clusterTime: ClusterTime?
        /// The number of documents that changed during the scan and were judged again after it.
        public var changedCount = 0
        /// The documents that the check was to read.
        public var selection = Selection.everything
        /// The estimated number of documents that the server did not send, because a prefilter proves that they fit.
        ///
        /// `nil` without a prefilter.
        public var passedOverCount: Int?
        /// The exact number of documents in ``selection``, as the server counted it; `nil` if it was not asked.
        public var exactCount: Int?
        /// The comparison of a sample of the verdicts with the server's; `nil` if none were compared.
        public var comparison: VerdictComparison?
        /// The guarantees that the result lacks, each with the reason.
        public var missing: [MissingGuarantee] = []

        /// Creates facts with default values: all documents are read, and the counts are not consistent as of one time.
        public init() {}
    }

    /// The documents that a check is to read.
    public enum Selection: Hashable, Sendable {
        /// The check is to read all documents.
        case everything
        /// The documents that the operator's filter matches.
        case matching(BSONDocument)
        /// A number of documents, taken at random.
        case sample(Int)
        /// A part of the documents; other checks read the other parts.
        case part(CheckPart)
    }
}

/// A guarantee that a check could not give.
public struct MissingGuarantee: Hashable, Sendable {
    /// The guarantees that a check gives for the documents that it reads.
    public enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// All counts are consistent as of one time, even if documents are written during the check.
        case oneMoment = "one_moment"
        /// After the check loses its cursor, it resumes at the document that it had reached.
        case resumable
        /// The check judges every document in its selection.
        case everyDocument = "every_document"
        /// The check compares the values of every unique index.
        case everyIndex = "every_index"
        /// The collection was not replaced by another one of the same name during the check.
        case sameCollection = "same_collection"
    }

    /// The guarantee that the check could not give.
    public var guarantee: Guarantee
    /// The reason why the check could not give the guarantee, as a clause.
    public var reason: String

    /// Creates an instance from its parts.
    public init(_ guarantee: Guarantee, _ reason: String) {
        self.guarantee = guarantee
        self.reason = reason
    }
}

extension CheckReport {
    /// Whether a check left out documents on purpose, or did not compare the values of a unique index; no result can
    /// then be called safe.
    public var isPartial: Bool {
        collections.contains {
            $0.reading.selection != .everything || $0.reading.missing.contains { $0.guarantee == .everyIndex }
        }
    }
}
