/// The numbers of a collection's documents that were read, that fail or might fail, and that the ledger of unsynced
/// documents already lists.
public struct DocumentCounts: Hashable, Sendable, Codable {
    /// The number of documents read.
    public var read = 0
    /// The number of documents that are certain to fail.
    public var certain = 0
    /// The number of documents that might fail, and are not certain to fail.
    public var possible = 0
    /// The documents in ``certain`` that a Prisma client reads, but never finds by a query with a value.
    public var unfound = Readable()
    /// The documents in ``certain`` that only a unique index refuses.
    public var refused = Readable()
    /// The documents in ``certain`` that a Prisma client reads, except in a query that includes a relation.
    public var unincluded = Readable()
    /// The number of documents in ``certain`` that the ledger of unsynced documents lists.
    public var certainInLedger = 0
    /// The number of documents in ``possible`` that the ledger of unsynced documents lists.
    public var possibleInLedger = 0
    /// The counts of documents by their verdicts under the checked schema and under the active one; `nil` if there is
    /// no active schema.
    public var changes: VerdictChanges?
    /// The counts of documents by the worst of their findings that no exception covers.
    ///
    /// ``FailurePolicy`` decides by these counts whether a check fails.
    public var unexcepted = Unexcepted()
    /// The counts of documents by what the engine does with them; `nil` if no engine's rules were applied.
    public var engine: EngineCounts?

    /// The number of documents that fail, and can be read.
    public struct Readable: Hashable, Sendable, Codable {
        /// The number of the documents.
        public var all = 0
        /// The number of those that do not fail under the active schema; 0 without an active schema.
        public var new = 0

        /// Creates counts of zero.
        public init() {}

        fileprivate mutating func add(_ other: Readable, times: Int) {
            (all, new) = (all + other.all * times, new + other.new * times)
        }

        mutating func add(isNew: Bool, times: Int = 1) { (all, new) = (all + times, new + (isNew ? times : 0)) }
    }

    /// The numbers of documents by their worst finding; findings that an exception covers are left out.
    public struct Unexcepted: Hashable, Sendable, Codable {
        /// The number of documents that are certain to fail because of a finding that no exception covers.
        public var certain = 0
        /// The number of documents in which the worst finding that no exception covers is only possible.
        public var possible = 0
        /// The number of documents in ``certain`` that are not certain to fail under the active schema; 0 without an
        /// active schema.
        public var newlyFailing = 0
        /// The number of documents in ``possible`` that neither fail nor might fail under the active schema; 0 without
        /// an active schema.
        public var newlyPossible = 0

        /// Creates counts of zero.
        public init() {}

        fileprivate mutating func add(_ other: Unexcepted, times: Int) {
            certain += other.certain * times
            possible += other.possible * times
            newlyFailing += other.newlyFailing * times
            newlyPossible += other.newlyPossible * times
        }

        mutating func add(_ verdict: Verdict, active: Verdict?) {
            let isNew = active.map { VerdictChanges.isNew(from: $0, to: verdict) } ?? false
            switch verdict {
            case .fits, .warning: break
            case .possible:
                possible += 1
                if isNew { newlyPossible += 1 }
            case .certain:
                certain += 1
                if isNew { newlyFailing += 1 }
            }
        }
    }

    /// Creates counts of zero.
    public init() {}

    /// The number of documents in ``certain`` that the ledger of unsynced documents does not list.
    public var newCertain: Int { certain - certainInLedger }
    /// The number of documents in ``possible`` that the ledger of unsynced documents does not list.
    public var newPossible: Int { possible - possibleInLedger }
    /// The number of documents that a check counts: with an active schema, only those that newly fail.
    public func stopping(_ documents: Readable) -> Int { changes == nil ? documents.all : documents.new }
    /// The number of documents in ``certain`` that cannot be read.
    public var unread: Int { certain - unfound.all - refused.all - unincluded.all }
    /// The number of documents in ``unread`` that a check counts: with an active schema, only those that newly fail.
    public var stoppingUnread: Int {
        (changes?.newlyFailing ?? certain) - [unfound, refused, unincluded].reduce(0) { $0 + stopping($1) }
    }
    /// The number of documents whose failures are all covered by exceptions.
    public var excepted: Int { certain + possible - unexcepted.certain - unexcepted.possible }

    /// Adds the counts of other documents, such as those that another thread read.
    public static func += (left: inout DocumentCounts, right: DocumentCounts) { left.add(right, times: 1) }

    /// Adds counts several times; with -1, takes them back.
    mutating func add(_ other: DocumentCounts, times: Int) {
        read += other.read * times
        certain += other.certain * times
        possible += other.possible * times
        unfound.add(other.unfound, times: times)
        refused.add(other.refused, times: times)
        unincluded.add(other.unincluded, times: times)
        certainInLedger += other.certainInLedger * times
        possibleInLedger += other.possibleInLedger * times
        unexcepted.add(other.unexcepted, times: times)
        if other.engine != nil, engine == nil { engine = EngineCounts() }
        if other.changes != nil, changes == nil { changes = VerdictChanges() }
        if let theirs = other.engine { engine?.add(theirs, times: times) }
        if let theirs = other.changes { changes?.add(theirs, times: times) }
    }

    /// Counts a document.
    /// - Parameters:
    ///   - active: The document's verdict under the active schema; `nil` if there is no active schema.
    ///   - unexcepted: The worst of the document's findings that no exception covers.
    mutating func add(_ verdict: Verdict, active: Verdict?, unexcepted: Verdict, isInLedger: Bool) {
        read += 1
        if let active { changes?.add(from: active, to: verdict) }
        self.unexcepted.add(unexcepted, active: active)
        switch verdict {
        case .fits, .warning: break
        case .possible:
            possible += 1
            if isInLedger { possibleInLedger += 1 }
        case .certain:
            certain += 1
            if isInLedger { certainInLedger += 1 }
        }
    }
}
