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
    /// What each document may be as the mirror left it: what it wrote there last, and behind that, last in the list, what it
    /// is about to write, or was when it died.
    private var digests: [Key: [String]] = [:]
    /// Until when runs before this one may have written.
    private var earlier = ClusterTime(rawValue: 0)
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
        earlier = now
        var found: [(number: Int, writes: [(Key, String)])] = []
        while let record = try cursor.nextDocument() {
            guard let number = record["_id"]?.document?["n"]?.integer else { continue }
            var writes: [(Key, String)] = []
            for write in record["writes"]?.document?.values.compactMap(\.document) ?? [] {
                guard let side = write["s"]?.text.flatMap(PartnerSide.init), let id = write["k"],
                    let digest = write["d"]?.text
                else { continue }
                writes.append((Key(side: side, pair: IDKey(id)), digest))
            }
            found.append((number, writes))
        }
        // Which of them a run that died had come to write is not known.
        for (number, writes) in found.sorted(by: { $0.number < $1.number }) {
            for (key, digest) in writes { digests[key, default: []].append(digest) }
            records.append((number, writes.map(\.0), now))
            next = max(next, number + 1)
        }
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
        for (key, digest) in made { digests[key, default: []].append(digest) }
        records.append((next, made.map(\.0), nil))
        next += 1
    }

    /// The writes that were begun last are done, or refused.
    mutating func end(at time: ClusterTime) {
        for index in records.indices where records[index].end == nil {
            records[index].end = time
            for key in records[index].keys { digests[key] = digests[key].map { Array($0.suffix(1)) } }
        }
    }

    /// A write that did not happen: what was written before it still counts.
    mutating func forget(_ side: PartnerSide, _ key: IDKey) {
        _ = digests[Key(side: side, pair: key)]?.popLast()
    }

    /// Whether a document, which changed last at `time`, is as the mirror wrote it.
    ///
    /// Of what runs before this one noted, any may be what they wrote last: a run may die before a write that it has noted.
    func holds(_ document: BSONDocument?, _ side: PartnerSide, _ key: IDKey, changed time: ClusterTime) -> Bool {
        guard let digests = digests[Key(side: side, pair: key)], let last = digests.last else { return false }
        let digest = Self.digest(document)
        return digest == last || time <= earlier && digests.contains(digest)
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
