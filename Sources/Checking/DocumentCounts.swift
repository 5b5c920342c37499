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

    /// Nothing read.
    public init() {}

    /// The certain ones that the ledger does not record.
    public var newCertain: Int { certain - certainInLedger }
    /// The possible ones that the ledger does not record.
    public var newPossible: Int { possible - possibleInLedger }

    /// Adds what another reader counted.
    public static func += (left: inout DocumentCounts, right: DocumentCounts) {
        left.read += right.read
        left.certain += right.certain
        left.possible += right.possible
        left.certainInLedger += right.certainInLedger
        left.possibleInLedger += right.possibleInLedger
    }

    mutating func add(_ verdict: Verdict, isInLedger: Bool) {
        read += 1
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
