import BSON
import Backfill
import JobState
import Mongo

/// The documents that are not on the other side because they cannot be, as the state database keeps them.
struct Unmirrored {
    private struct Key: Hashable {
        var side: PartnerSide
        var id: IDKey
    }

    static let collection = "unmirrored"

    private let job: String
    private var keys: Set<Key> = []

    init(job: String) { self.job = job }

    var count: Int { keys.count }

    private func id(_ key: Key) -> BSONValue {
        ["job": .string(job), "side": .string(key.side.rawValue), "id": key.id.value]
    }

    mutating func load(under kernel: borrowing Kernel) throws {
        let job = job
        let records = try kernel.retrying {
            try kernel.store.client.all(Self.collection, ["_id.job": .string(job)]).documents()
        }
        for record in records {
            guard let id = record["_id"]?.document, let side = id["side"]?.text.flatMap(PartnerSide.init),
                let value = id["id"]
            else { continue }
            keys.insert(Key(side: side, id: IDKey(value)))
        }
    }

    mutating func add(
        _ refusal: Refusal, _ side: PartnerSide, under kernel: borrowing Kernel,
        _ events: @Sendable (MirrorEvent) -> Void
    ) throws {
        let key = Key(side: side, id: IDKey(refusal.id))
        events(.refused(side, refusal))
        let (record, reason) = (id(key), "\(refusal.reason)")
        try kernel.retrying {
            try kernel.store.client.put(Self.collection, id: record, ["reason": .string(reason)])
        }
        keys.insert(key)
    }

    /// A document that is on the other side now, or gone.
    mutating func remove(_ documentID: BSONValue, _ side: PartnerSide, under kernel: borrowing Kernel) throws {
        let key = Key(side: side, id: IDKey(documentID))
        guard keys.remove(key) != nil else { return }
        let record = id(key)
        try kernel.retrying { try kernel.store.client.delete(Self.collection, ids: [record]) }
    }
}
