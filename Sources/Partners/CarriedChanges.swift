import BSON
import JobState
import Mongo
import Running

/// The times up to which the changes of pairs are carried over, beyond the recorded positions of the change streams.
///
/// Each transaction that writes pairs also records them here, so that the mirror after a killed one does not take a
/// change that was already carried over for a new one.
struct CarriedChanges {
    private static let collection = "carried"

    private let job: String
    private var times: [IDKey: ClusterTime] = [:]
    private var next = 1
    private var written: ClusterTime?

    init(job: String) { self.job = job }

    /// Reads the records of earlier runs' transactions.
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

    /// Whether a change of a pair at a time is already carried over.
    func hold(_ key: IDKey, changed time: ClusterTime) -> Bool { times[key].map { time <= $0 } ?? false }

    /// Records, in a transaction, that all changes of these pairs up to a time are carried over.
    mutating func record(
        _ keys: [IDKey], until time: ClusterTime, in database: String, of client: borrowing Client,
        options: BSONDocument
    ) throws(MongoError) {
        let record: BSONDocument = [
            "until": .timestamp(time.rawValue), "pairs": .array(of: keys.map(\.value)),
        ]
        let id: BSONValue = ["job": .string(job), "n": .integer(next)]
        next += 1
        _ = try client.collection(Namespace(database: database, collection: Self.collection)).update(
            [UpdateStatement(["_id": id], .object(record), isUpsert: true)], options: options)
        written = time
    }

    /// Deletes the records up to a time, once the recorded positions of all streams have reached it, because no stream
    /// reports those changes again.
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
