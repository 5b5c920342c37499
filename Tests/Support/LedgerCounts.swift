import BSON

/// What a ledger shows, what it should show, and the highest sum ever seen of the two.
struct LedgerCounts: Sendable {
    private var shown: Set<BSONValue> = []
    /// The documents that changes made unsyncable, as they are now.
    private var failing: [BSONValue: BSONDocument] = [:]
    private var unseen = 0
    /// The most documents that were shown, or should have been, at one time.
    private(set) var highest = 0

    /// A document changed.
    mutating func changed(_ id: BSONValue, to document: BSONDocument?, fails: Bool) {
        let failed = failing[id] != nil
        failing[id] = fails ? document : nil
        if !shown.contains(id) { unseen += (fails ? 1 : 0) - (failed ? 1 : 0) }
        measure()
    }

    /// The ledger shows a document from now on.
    /// - Returns: whether it did not before.
    mutating func show(_ id: BSONValue) -> Bool {
        guard shown.insert(id).inserted else { return false }
        if failing[id] != nil { unseen -= 1 }
        measure()
        return true
    }

    /// The ledger shows a document no more.
    /// - Returns: whether it did before.
    mutating func forget(_ id: BSONValue) -> Bool {
        guard shown.remove(id) != nil else { return false }
        if failing[id] != nil { unseen += 1 }
        measure()
        return true
    }

    /// Another schema judges.
    mutating func judgeAnew(_ fails: (BSONDocument) throws -> Bool) rethrows {
        failing = try failing.filter { try fails($0.value) }
        unseen = failing.keys.count { !shown.contains($0) }
        measure()
    }

    private mutating func measure() { highest = max(highest, shown.count + unseen) }
}
