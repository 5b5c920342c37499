import BSON
import Backfill
import JobState
import Jobs
import Mongo

/// What the mirror wrote itself, of which the change streams will tell: so that it is not taken for a client's change.
///
/// It is kept in the state database before it is written, as the change may be told to the next run.
struct OwnWrites {
    private struct Key: Hashable {
        var side: PartnerSide
        var pair: IDKey
    }

    private static let collection = "echoes"

    private let job: String
    private var digests: [Key: String] = [:]
    /// The writes of each record, and until when a change stream may tell of them; `nil` while they are under way.
    private var records: [(number: Int, keys: [Key], end: ClusterTime?)] = []
    private var next = 1

    init(job: String) { self.job = job }

    /// What a document is known by; the empty text where there is none.
    static func digest(_ document: BSONDocument?) -> String {
        document.map { String(SHA256.text(of: $0.ordered.bytes).prefix(32)) } ?? ""
    }

    /// Reads what the run before left.
    mutating func load(_ client: StoreClient, _ partner: Partner, now: ClusterTime) throws {
        var cursor = client.all(Self.collection, ["_id.job": .string(job)])
        while let record = try cursor.nextDocument() {
            guard let number = record["_id"]?.document?["n"]?.integer else { continue }
            var keys: [Key] = []
            for write in record["writes"]?.document?.values.compactMap(\.document) ?? [] {
                guard let side = write["s"]?.text.flatMap(PartnerSide.init), let id = write["k"] else { continue }
                let key = Key(side: side, pair: IDKey(id))
                digests[key] = write["d"]?.text
                keys.append(key)
            }
            records.append((number, keys, now))
            next = max(next, number + 1)
        }
        records.sort { $0.number < $1.number }
    }

    /// Keeps what is about to be written.
    mutating func begin(
        _ writes: [(side: PartnerSide, key: IDKey, document: BSONDocument?)], under kernel: borrowing Kernel
    ) throws {
        let made = writes.map { (Key(side: $0.side, pair: $0.key), Self.digest($0.document)) }
        let list = made.map { key, digest -> BSONValue in
            ["s": .string(key.side.rawValue), "k": key.pair.value, "d": .string(digest)]
        }
        let (number, job) = (next, job)
        try kernel.retrying {
            try kernel.store.client.put(
                Self.collection, id: ["job": .string(job), "n": .integer(number)], ["writes": .array(of: list)])
        }
        for (key, digest) in made { digests[key] = digest }
        records.append((next, made.map(\.0), nil))
        next += 1
    }

    /// The writes that were begun last are done, or refused.
    mutating func end(at time: ClusterTime) {
        for index in records.indices where records[index].end == nil { records[index].end = time }
    }

    /// A write that did not happen.
    mutating func forget(_ side: PartnerSide, _ key: IDKey) { digests[Key(side: side, pair: key)] = nil }

    /// Whether a document is as the mirror wrote it last.
    func holds(_ document: BSONDocument?, _ side: PartnerSide, _ key: IDKey) -> Bool {
        digests[Key(side: side, pair: key)].map { $0 == Self.digest(document) } ?? false
    }

    /// Forgets what no change stream tells of any more, once its places are recorded.
    mutating func settle(to time: ClusterTime, under kernel: borrowing Kernel) throws {
        let over = records.prefix { record in record.end.map { $0 <= time } ?? false }
        guard let last = over.last?.number else { return }
        records.removeFirst(over.count)
        var kept: Set<Key> = []
        for record in records { kept.formUnion(record.keys) }
        for record in over { for key in record.keys where !kept.contains(key) { digests[key] = nil } }
        let job = job
        try kernel.retrying {
            try kernel.store.client.delete(
                Self.collection, where: ["_id.job": .string(job), "_id.n": ["$lte": .integer(last)]])
        }
    }
}
