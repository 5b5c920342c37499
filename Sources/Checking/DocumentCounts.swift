/// How many documents of a collection failed, and how many of those the ledger records already.
public struct DocumentCounts: Hashable, Sendable, Codable {
    /// The documents read.
    public var read = 0
    /// Of those, the ones that do not sync.
    public var certain = 0
    /// The ones that may not sync, and of which nothing is certain.
    public var possible = 0
    /// The certain ones that the ledger records.
    public var certainInLedger = 0
    /// The possible ones that the ledger records.
    public var possibleInLedger = 0
    /// How the documents fare beside the active schema; `nil` when there is none to compare with.
    public var changes: VerdictChanges?
    /// The documents that count against the check: those with findings that no exception covers.
    public var unexcepted = Unexcepted()

    /// Documents by the worst of the findings that no exception covers.
    public struct Unexcepted: Hashable, Sendable, Codable {
        /// With one that is certain.
        public var certain = 0
        /// With one that is possible, and none that is certain.
        public var possible = 0
        /// The certain ones that are not certain to fail under the active schema.
        public var newlyFailing = 0
        /// The possible ones of which nothing is wrong under the active schema.
        public var newlyPossible = 0

        /// Nothing counted.
        public init() {}

        static func += (left: inout Unexcepted, right: Unexcepted) {
            left.certain += right.certain
            left.possible += right.possible
            left.newlyFailing += right.newlyFailing
            left.newlyPossible += right.newlyPossible
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

    /// Nothing read.
    public init() {}

    /// The certain ones that the ledger does not record.
    public var newCertain: Int { certain - certainInLedger }
    /// The possible ones that the ledger does not record.
    public var newPossible: Int { possible - possibleInLedger }
    /// The documents that fail only in ways that an exception covers.
    public var excepted: Int { certain + possible - unexcepted.certain - unexcepted.possible }

    /// Adds what another reader counted.
    public static func += (left: inout DocumentCounts, right: DocumentCounts) {
        left.read += right.read
        left.certain += right.certain
        left.possible += right.possible
        left.certainInLedger += right.certainInLedger
        left.possibleInLedger += right.possibleInLedger
        left.unexcepted += right.unexcepted
        if let theirs = right.changes { left.changes = (left.changes ?? VerdictChanges()).adding(theirs) }
    }

    /// Counts a document.
    /// - Parameters:
    ///   - active: How it fares under the active schema; `nil` when there is none.
    ///   - unexcepted: The worst that no exception covers.
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

extension VerdictChanges {
    fileprivate func adding(_ other: VerdictChanges) -> VerdictChanges {
        var sum = self
        sum += other
        return sum
    }
}
