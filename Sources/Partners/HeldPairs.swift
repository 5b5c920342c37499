import BSON
import Following
import JobState
import Mongo
import Running

/// The pairs with a change that the mirror cannot copy to the other collection, and the documents that cannot have a
/// counterpart there.
///
/// A pair is a document of the original collection and its counterpart in the partner collection. Until the change of a
/// held pair can be copied, the mirror overwrites neither of its documents with the other. The state database lists the
/// pairs with the times of their changes, so that a later run knows which document changed last.
struct HeldPairs {
    /// A pair with a change that the mirror cannot copy from one document to the other.
    struct Held: Hashable {
        /// The collection (original or partner) with the document that cannot be copied to the other collection.
        var side: PartnerSide
        /// The reason why the document on ``side`` cannot be copied.
        var refusal: Refusal
        /// The changes by clients that are not copied yet; the key is the collection (original or partner) of the
        /// changed document.
        var changes: [PartnerSide: DirtyPairs.Change]
        /// The pair whose document has the unique-index key that this pair needs; `nil` if no such pair is known.
        var holder: IDKey?

        /// Whether a client has also changed the pair's other document, and this change is not copied yet.
        var isConflict: Bool { changes[side.other] != nil }
    }

    private struct Alone: Hashable {
        var side: PartnerSide
        var id: IDKey
    }

    static let collection = "unmirrored"

    private let job: String
    private var pairs: [IDKey: Held] = [:]
    private var alone: Set<Alone> = []
    /// The held pairs that wait for a key in a unique index, grouped by the pair that has the key now.
    private var waiting: [IDKey: Set<IDKey>] = [:]

    init(job: String) { self.job = job }

    var count: Int { pairs.count + alone.count }

    /// The keys of all pairs with a change that the mirror cannot copy to the other collection.
    var keys: some Sequence<IDKey> { pairs.keys }

    subscript(key: IDKey) -> Held? { pairs[key] }

    /// Returns the held pairs that need the unique-index key of the given pair.
    ///
    /// A change of the given pair may free the key.
    func waiting(for key: IDKey) -> Set<IDKey> { waiting[key] ?? [] }

    private func recordID(_ side: PartnerSide, _ id: BSONValue) -> BSONValue {
        ["job": .string(job), "side": .string(side.rawValue), "id": id]
    }

    /// Reads the held pairs, and the documents that cannot have a counterpart, as earlier runs recorded them in the
    /// state database.
    mutating func load(_ partner: Partner, under kernel: borrowing Kernel) throws {
        let job = job
        let records = try kernel.retrying {
            try kernel.store.client.all(Self.collection, ["_id.job": .string(job)]).documents()
        }
        for record in records {
            guard let id = record["_id"]?.document, let side = id["side"]?.text.flatMap(PartnerSide.init),
                let value = id["id"]
            else { continue }
            guard let key = partner.key(of: value, on: side), partner.twin(of: value, on: side) != nil else {
                alone.insert(Alone(side: side, id: IDKey(value)))
                continue
            }
            var changes: [PartnerSide: DirtyPairs.Change] = [:]
            for changed in PartnerSide.allCases {
                guard case .timestamp(let time)? = record["changes"]?.document?[changed.rawValue] else { continue }
                changes[changed] = DirtyPairs.Change(at: ChangeTime(cluster: ClusterTime(rawValue: time)))
            }
            if changes[side] == nil {
                changes[side] = DirtyPairs.Change(at: ChangeTime(cluster: ClusterTime(rawValue: 0)))
            }
            pairs[key] = Held(
                side: side, refusal: Refusal(id: value, reason: Refusal.Reason(record)), changes: changes)
        }
    }

    /// Adds a pair to the held pairs, and records it in the state database.
    /// - Returns: `isNew` is `true` if the pair was not held before, or was held for another reason or side;
    ///   `isNewConflict` is `true` if a conflict between its two documents is new.
    mutating func hold(
        _ key: IDKey, _ held: Held, under kernel: borrowing Kernel
    ) throws -> (isNew: Bool, isNewConflict: Bool) {
        let before = pairs[key]
        let hasOtherRecord = before.map { $0.refusal.id != held.refusal.id || $0.side != held.side } ?? true
        if before != nil, hasOtherRecord { try release(key, under: kernel) }
        let isNew = before.map { !$0.refusal.reason.isSame(as: held.refusal.reason) || $0.side != held.side } ?? true
        let isNewConflict = held.isConflict && before?.isConflict != true
        if isNew || hasOtherRecord || before?.changes != held.changes {
            let record = recordID(held.side, held.refusal.id)
            let changes = BSONDocument(
                held.changes.map { ($0.key.rawValue, .timestamp($0.value.last.cluster.rawValue)) })
            let document: BSONDocument = [
                "reason": .string("\(held.refusal.reason)"), "changes": .object(changes),
                "conflict": .bool(held.isConflict),
            ]
            let all = BSONDocument(try document.elements() + held.refusal.reason.fields)
            try kernel.retrying { try kernel.store.client.put(Self.collection, id: record, all) }
        }
        if let holder = before?.holder { waiting[holder]?.remove(key) }
        if let holder = held.holder { waiting[holder, default: []].insert(key) }
        pairs[key] = held
        return (isNew, isNewConflict)
    }

    /// Adds a document that cannot have a counterpart, and records it in the state database.
    /// - Returns: whether the document was not listed before.
    mutating func hold(_ refusal: Refusal, alone side: PartnerSide, under kernel: borrowing Kernel) throws -> Bool {
        let record = recordID(side, refusal.id)
        guard alone.insert(Alone(side: side, id: IDKey(refusal.id))).inserted else { return false }
        try kernel.retrying {
            try kernel.store.client.put(Self.collection, id: record, ["reason": .string("\(refusal.reason)")])
        }
        return true
    }

    /// Removes a pair from the held pairs, and its record from the state database.
    mutating func release(_ key: IDKey, under kernel: borrowing Kernel) throws {
        guard let held = pairs.removeValue(forKey: key) else { return }
        if let holder = held.holder { waiting[holder]?.remove(key) }
        let record = recordID(held.side, held.refusal.id)
        try kernel.retrying { try kernel.store.client.delete(Self.collection, ids: [record]) }
    }

    /// Removes a document from the documents that cannot have a counterpart, because it no longer exists.
    mutating func release(_ id: BSONValue, alone side: PartnerSide, under kernel: borrowing Kernel) throws {
        guard alone.remove(Alone(side: side, id: IDKey(id))) != nil else { return }
        let record = recordID(side, id)
        try kernel.retrying { try kernel.store.client.delete(Self.collection, ids: [record]) }
    }
}
