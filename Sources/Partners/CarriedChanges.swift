import BSON
import JobState
import Mongo
import Running
import Scanning

/// The pairs whose changes were carried over since the mirror last saved its positions in the change streams.
///
/// A pair consists of a document of the original collection and its counterpart in the partner collection. Each
/// transaction that writes pairs also records their keys in the state database, and the time up to which their changes
/// are carried over. If a mirror is killed before it saves its positions, the next mirror receives the same changes
/// again. These records show that the changes are already carried over.
struct CarriedChanges {
    private static let collection = "carried"

    private let job: String
    private var times: [IDKey: ClusterTime] = [:]
    private var next = 1
    private var written: ClusterTime?

    init(job: String) { self.job = job }

    /// Reads the records of carried-over pairs that earlier runs of the mirror stored in the state database.
    mutating func load(_ client: StoreClient) throws {
        var cursor = client.all(Self.collection, ["_id.job": .string(job)])
        while let record = try cursor.nextDocument() {
            next = max(next, (record["_id"]?.document?["n"]?.integer ?? 0) + 1)
            guard case .timestamp(let stamp)? = record["until"] else { continue }
            let time = ClusterTime(rawValue: stamp)
            for id in record["pairs"]?.document?.values ?? [] {
                times[IDKey(id)] = max(times[IDKey(id)] ?? time, time)
            }
            written = max(written ?? time, time)
        }
    }

    /// Whether an earlier run already carried over the pair's changes up to the given time.
    func contains(_ key: IDKey, changed time: ClusterTime) -> Bool { times[key].map { time <= $0 } ?? false }

    /// Returns an unused number for the record that a transaction is about to write.
    mutating func makeNumber() -> Int {
        defer { next += 1 }
        return next
    }

    /// Records, in a transaction, that all changes of the given pairs up to the given time are carried over.
    /// - Parameter number: the record's number; a caller passes it later to ``isRecorded(_:in:of:options:)``.
    mutating func record(
        _ keys: [IDKey], until time: ClusterTime, as number: Int, in database: String, of client: borrowing Client,
        options: BSONDocument
    ) throws(MongoError) {
        let record: BSONDocument = [
            "until": .timestamp(time.rawValue), "pairs": .array(of: keys.map(\.value)),
        ]
        _ = try client.collection(Namespace(database: database, collection: Self.collection)).update(
            [UpdateStatement(["_id": id(number)], .object(record), isUpsert: true)], options: options)
        written = time
    }

    /// Whether a transaction that wrote the record with this number was committed.
    func isRecorded(
        _ number: Int, in database: String, of client: borrowing Client, options: BSONDocument
    ) throws -> Bool {
        let records = client.collection(Namespace(database: database, collection: Self.collection))
        return try IDReader(collection: records, options: options).documents([id(number)]).isEmpty == false
    }

    private func id(_ number: Int) -> BSONValue { ["job": .string(job), "n": .integer(number)] }

    /// Deletes the records of changes that were carried over up to the given time or an earlier one.
    ///
    /// The caller has saved later positions in all change streams, so no stream reports these changes again.
    mutating func forget(upTo time: ClusterTime, under kernel: borrowing Kernel) throws {
        guard written != nil else { return }
        let job = job
        try kernel.retrying {
            try kernel.store.client.delete(
                Self.collection, where: ["_id.job": .string(job), "until": ["$lte": .timestamp(time.rawValue)]])
        }
        times = times.filter { $0.value > time }
        if let last = written, last <= time { written = nil }
    }
}
