import BSON
import Running

/// What a run knows of the documents that it makes unsyncable.
struct UnsyncAccount {
    /// Documents that it made unsyncable under the active schema.
    private(set) var harmed = 0
    /// The sum of unsynced documents at the chunk before; `nil` when it has to be read anew.
    var headroom: Headroom?
    /// Documents at risk that were recorded since the last look at what became of them.
    private(set) var unsettled: [BSONValue] = []
    /// Harmed documents of writes that failed, which may be met again.
    private var inDoubt: Set<BSONValue> = []

    /// Documents were recorded before their write, though nothing is done to them as of now.
    mutating func reserve(atRisk ids: [BSONValue]) { unsettled += ids }

    /// A write begins that makes these unsyncable: counted before it, as the record is, since of one that fails nobody knows
    /// how far it came.
    mutating func begin(harming ids: [BSONValue]) {
        harmed += ids.count { !inDoubt.contains($0) }
        inDoubt.formUnion(ids)
    }

    /// The write of these is checkpointed.
    mutating func confirm(harming ids: [BSONValue]) { inDoubt.subtract(ids) }

    /// The document was not written after all.
    mutating func skip(_ id: BSONValue) {
        unsettled.append(id)
        if inDoubt.remove(id) != nil { harmed -= 1 }
    }

    /// The documents at risk, to be looked at.
    mutating func settle() -> [BSONValue] {
        defer { unsettled = [] }
        return unsettled
    }
}
