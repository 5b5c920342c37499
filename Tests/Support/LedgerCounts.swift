import BSON

/// The numbers of documents in a ledger, and the largest number of unsynced documents so far.
///
/// A document counts as unsynced if the ledger shows it, or if it is unsyncable and the ledger does not show it yet.
struct LedgerCounts: Sendable {
    private var shown: Set<BSONValue> = []
    /// The documents that changes made unsyncable, with their current contents.
    private var failing: [BSONValue: BSONDocument] = [:]
    private var unseen = 0
    /// The largest number of unsynced documents at any time.
    private(set) var highest = 0

    /// Records that a document changed, or was deleted if `document` is `nil`.
    /// - Parameter fails: whether the changed document is unsyncable under the active schema.
    mutating func changed(_ id: BSONValue, to document: BSONDocument?, fails: Bool) {
        let failed = failing[id] != nil
        failing[id] = fails ? document : nil
        if !shown.contains(id) { unseen += (fails ? 1 : 0) - (failed ? 1 : 0) }
        measure()
    }

    /// Records that the ledger now shows a document.
    /// - Returns: whether the ledger did not show the document before.
    mutating func show(_ id: BSONValue) -> Bool {
        guard shown.insert(id).inserted else { return false }
        if failing[id] != nil { unseen -= 1 }
        measure()
        return true
    }

    /// Records that the ledger no longer shows a document.
    /// - Returns: whether the ledger showed the document before.
    mutating func forget(_ id: BSONValue) -> Bool {
        guard shown.remove(id) != nil else { return false }
        if failing[id] != nil { unseen += 1 }
        measure()
        return true
    }

    /// Checks the unsyncable documents against another schema, and keeps those that fail.
    mutating func judgeAgain(_ fails: (BSONDocument) throws -> Bool) rethrows {
        failing = try failing.filter { try fails($0.value) }
        unseen = failing.keys.count { !shown.contains($0) }
        measure()
    }

    private mutating func measure() { highest = max(highest, shown.count + unseen) }
}
