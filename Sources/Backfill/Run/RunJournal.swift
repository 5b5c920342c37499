import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The journal of a run: the attempts at its chunks, the documents that each attempt changed, and whether a majority
/// has the journal's records.
struct RunJournal {
    /// The current attempt at a chunk.
    ///
    /// `nil` until the attempt's changes are in the journal, and again after the journal records which documents the
    /// attempt changed.
    private(set) var attempt: JournaledAttempt?
    /// The fields that distinguish a document from a later document with the same `_id`; `nil` until they are chosen.
    private(set) var evidence: DocumentEvidence?
    /// How many documents were inserted in other collections without getting a link, because the documents that should
    /// link to them changed.
    private(set) var unlinked = 0
    /// The number of chunks that were done when the run last read documents; the journal stores it with each chunk of
    /// these documents.
    var group = 0
    /// The state that shows whether a majority has the writes and the journal of the current chunk.
    var durability: WriteDurability
    /// Whether the server can read documents as they were at an earlier time.
    private let readsMoments: Bool
    /// The number of the newest attempt in the journal; `nil` when it has to be read from the journal.
    private var sequence: Int64?
    /// The numbers of the attempts at the current chunk that are acknowledged.
    ///
    /// An attempt is acknowledged once the journal records which documents it changed.
    private var acknowledged: [Int64] = []

    /// - Parameters:
    ///   - readsMoments: whether the server can read documents as they were at an earlier time.
    ///   - isReplicaSet: whether the server names the term of its election in its replies.
    init(readsMoments: Bool = false, isReplicaSet: Bool = false) {
        self.readsMoments = readsMoments
        durability = WriteDurability(isReplicaSet: isReplicaSet)
    }

    /// Starts a chunk, for which there are no attempts yet.
    mutating func begin() {
        (attempt, acknowledged) = (nil, [])
        durability.begin()
    }

    // MARK: Before the write

    /// Chooses the fields that distinguish a document from a later document with the same `_id`.
    ///
    /// At most six fields are chosen: those with the largest numbers of distinct values in a sample, which is the first
    /// and the last 50 documents in the order of their `_id`s. Fields that the job writes are excluded, and so are the
    /// sources of steps with `whenPresent: refresh`. The sample is not random, because a random one would cost the
    /// server as much as thousands of writes.
    mutating func chooseEvidence(for job: CompiledJob, _ kernel: inout Kernel) throws {
        guard evidence == nil else { return }
        // Steps with `whenPresent: refresh` expect that clients change their source fields, so these fields cannot
        // identify a document.
        let followed = (job.refreshing?.steps ?? []).flatMap(\.step.sources).map(\.topLevel)
        let touched = Set(job.whole.touched + followed + SyncLock.fields + ["_id"])
        let isSmall = Expression(["$lt": [["$bsonSize": "$$ROOT"], .integer(DocumentEvidence.largest)]])
        let sample = try kernel.reading(job.job.namespace) { collection in
            try [1, -1].flatMap { direction in
                try collection.aggregate(
                    [["$sort": ["_id": .integer(direction)]], ["$limit": 50], ["$match": .object(isSmall.filter)]],
                    options: ["comment": "shipshape journal"]
                ).documents()
            }
        }
        evidence = try DocumentEvidence.chosen(from: sample, without: touched)
    }

    /// Writes to the journal the changes that an attempt is about to make to documents.
    /// - Parameter key: the attempt's key in the journal; this function sets the attempt's number in the key.
    /// - Returns: the documents that are in the journal, and may be written.
    mutating func write(
        _ documents: [DueDocument], of phase: Phase, as key: JournalStore.Key, _ kernel: inout Kernel
    ) throws -> [DueDocument] {
        var entries = ChunkJournal(touched: phase.touched, evidence: evidence?.names ?? [])
        let keepsPositions = phase.isServerSide
        let written = try documents.filter { document in
            guard let change = document.change,
                try entries.add(
                    document.id, before: change.before, after: change.after,
                    positions: keepsPositions ? change.positions : nil, evidence: change.evidence)
            else { return false }
            for creation in change.created { entries.add(creation) }
            return true
        }
        guard entries.count > 0 else { return [] }
        try kernel.keepLease()
        var key = key
        while true {
            key.sequence = try nextSequence(after: key.sequence, kernel)
            let journal = WriteDurability.Journal(entries: entries, key: key, touched: phase.touched)
            do {
                durability.add(journal, try Self.send(journal, isFinal: durability.waitsEachTime, kernel))
            } catch is JournalStore.NumberTaken {
                sequence = nil
                continue
            }
            attempt = JournaledAttempt(key.sequence, written)
            break
        }
        FaultInjection.reached(.afterJournal)
        return written
    }

    /// Returns the number of the next attempt; the attempts of all runs are numbered without a gap.
    private mutating func nextSequence(after checkpointed: Int64, _ kernel: borrowing Kernel) throws -> Int64 {
        let last = try sequence ?? max(checkpointed, kernel.retrying { try kernel.store.journal.newest() })
        sequence = last + 1
        return last + 1
    }

    private static func send(
        _ journal: WriteDurability.Journal, isFinal: Bool, _ kernel: borrowing Kernel
    ) throws -> [BSONDocument] {
        try kernel.retrying {
            try kernel.store.journal.write(journal.entries, as: journal.key, touched: journal.touched, isFinal: isFinal)
        }
    }

    /// Writes the journal entries of the chunk again if a majority may lack them, and waits for a majority, so that an
    /// election cannot undo them.
    mutating func confirm(_ kernel: borrowing Kernel) throws {
        for journal in durability.unconfirmed { _ = try Self.send(journal, isFinal: true, kernel) }
        durability.confirmed()
    }

    // MARK: Documents that met the condition of their update before the attempt's first update

    /// Stores the updates that are planned for the attempt's documents.
    mutating func plan(_ updates: [ChunkWriter.Update]) { attempt?.updates = updates }

    /// Records that the given updates of the attempt are about to be sent.
    mutating func willSend(_ updates: [ChunkWriter.Update]) { attempt?.willSend(updates) }

    /// Stores the data with which the run can find out later which documents met the condition of their update just
    /// before the attempt's first update.
    ///
    /// If the server can read documents as of an earlier time, the data is the server's current time. Otherwise, the
    /// data is the set of documents that meet the condition now. With too many updates, no data is stored.
    mutating func noteStart(in namespace: Namespace, _ kernel: borrowing Kernel) throws {
        guard let documents = attempt?.documents, let updates = attempt?.updates, attempt?.start == nil else { return }
        attempt?.start = .unknown
        if readsMoments {
            let time = try kernel.retrying { try kernel.client.operationTime() }
            attempt?.start = time > 0 ? .time(time) : .unknown
        } else if updates.count <= Self.maximumAsked,
            let ready = try Self.find(documents.map(\.id), readyFor: updates, at: nil, in: namespace, kernel)
        {
            attempt?.start = .ready(ready)
        }
    }

    /// The most updates of an attempt whose conditions the server is asked to evaluate.
    ///
    /// If the attempt has more updates, it stays unknown which documents met the conditions.
    ///
    /// The limit matters for a client-side step, which has one update for each document.
    private static let maximumAsked = 200

    /// Returns which of the documents met the condition of their update just before the first update was sent; `nil` if
    /// that is unknown.
    private static func ready(
        of ids: [BSONValue], in attempt: JournaledAttempt, of namespace: Namespace, _ kernel: borrowing Kernel
    ) throws -> Set<BSONValue>? {
        guard !ids.isEmpty else { return [] }
        switch attempt.start {
        case .unknown?: return nil
        case .ready(let ready)?: return ready.intersection(ids)
        case .time(let time)?: return try find(ids, readyFor: attempt.updates, at: time, in: namespace, kernel)
        case nil: return []
        }
    }

    /// Returns which of the documents meet the condition of their update, now or at the given time; `nil` if that is
    /// unknown.
    private static func find(
        _ ids: [BSONValue], readyFor updates: [ChunkWriter.Update], at time: UInt64?, in namespace: Namespace,
        _ kernel: borrowing Kernel
    ) throws -> Set<BSONValue>? {
        let asked = Set(ids)
        let wanted = updates.compactMap { update in
            let ids = update.ids.filter(asked.contains)
            return ids.isEmpty ? nil : (update, ids)
        }
        guard wanted.count <= maximumAsked else { return nil }
        var ready: Set<BSONValue> = []
        do {
            for (update, ids) in wanted {
                for slice in ids.commandSlices(count: 1_000) {
                    guard
                        let found = try kernel.retrying({
                            try find(slice, readyFor: update, at: time, in: namespace, kernel)
                        })
                    else {
                        return nil
                    }
                    ready.formUnion(found)
                }
            }
        } catch let error as MongoError where !error.isTransient {
            // The server refuses the read, for example because the time is too long ago.
            return nil
        }
        return ready
    }

    private static func find(
        _ ids: [BSONValue], readyFor update: ChunkWriter.Update, at time: UInt64?, in namespace: Namespace,
        _ kernel: borrowing Kernel
    ) throws(MongoError) -> [BSONValue]? {
        let filter: BSONDocument = ["_id": ["$in": .array(of: ids)], "$expr": update.condition.bson]
        var command: BSONDocument = [
            "find": .string(namespace.collection), "filter": .object(filter), "projection": ["_id": 1],
            "hint": ["_id": 1], "batchSize": .integer(ids.count + 1), "comment": "shipshape journal",
        ]
        if update.isBinary { command = command.appending("collation", ["locale": "simple"]) }
        if let time {
            // The server waits for a majority before it reads, but only for a limited time. If the majority takes
            // longer, the chunk's checkpoint reports that.
            command = command.appending("readConcern", ["level": "snapshot", "atClusterTime": .timestamp(time)])
                .appending("maxTimeMS", .long(kernel.lease.terms.writeLimit.milliseconds))
        }
        let reply = try kernel.client.runCommand(command, on: namespace.database)
        guard let cursor = reply["cursor"]?.document, cursor["id"]?.integer == 0 else { return nil }
        return cursor["firstBatch"]?.document?.values.compactMap { $0.document?["_id"] }
    }

    // MARK: After the write

    /// Counts the documents that an acknowledged write of the attempt changed.
    /// - Parameter reply: the server's reply to the write.
    mutating func wrote(_ reply: BSONDocument) {
        attempt?.wrote(reply["nModified"]?.integer ?? 0)
        durability.add(reply)
    }

    /// Counts the documents that a failed write of the attempt changed, as far as the server reports it.
    /// - Returns: whether the reply was lost, so that ``recount(_:in:_:)`` has to run before the write is sent again.
    mutating func failed(_ error: MongoError, isPerDocument: Bool) -> Bool {
        attempt?.failed(error, isPerDocument: isPerDocument) == false
    }

    /// Finds out which documents a write without a reply has changed; the caller does this before it sends the write
    /// again.
    mutating func recount(_ phase: Phase, in collection: MongoCollection, _ kernel: borrowing Kernel) throws {
        guard let documents = attempt?.documents else { return }
        attempt?.recount(without: try Self.changed(documents, by: phase, in: collection, kernel))
    }

    /// Records in the journal which documents the current attempt has changed, so that undo knows what to restore.
    ///
    /// This write normally does not wait for a majority; the chunk's checkpoint waits.
    mutating func acknowledge(
        _ phase: Phase, in collection: MongoCollection, _ kernel: borrowing Kernel
    ) throws {
        guard let attempt else { return }
        var written = JournalStore.Written()
        if attempt.isUnsent {
            written.missed = attempt.documents.map(\.id)
        } else if !attempt.isWhole {
            let changed = try Self.changed(attempt.documents, by: phase, in: collection, kernel)
            let others = Array(attempt.sentIDs.subtracting(changed).subtracting(attempt.doubtful))
            written = attempt.written(
                seeing: changed, others: try Self.ready(of: others, in: attempt, of: collection.namespace, kernel))
        }
        self.attempt = nil
        if !written.missed.isEmpty {
            let missed = Set(written.missed)
            unlinked += attempt.documents.reduce(0) {
                $0 + (missed.contains($1.id) ? $1.change?.created.count ?? 0 : 0)
            }
        }
        let isFinal = durability.waitsEachTime
        durability.add(
            try kernel.retrying { try kernel.store.journal.acknowledge(attempt.sequence, written, isFinal: isFinal) })
        acknowledged.append(attempt.sequence)
    }

    /// Removes from the journal the information about which documents the chunk's attempts changed, because an election
    /// may have undone these changes.
    func withdraw(_ kernel: borrowing Kernel) throws {
        try kernel.retrying { try kernel.store.journal.withdraw(acknowledged) }
    }

    /// Returns which of the documents have the values that the phase was to write.
    private static func changed(
        _ documents: [DueDocument], by phase: Phase, in collection: MongoCollection, _ kernel: borrowing Kernel
    ) throws -> Set<BSONValue> {
        let changes = Dictionary(documents.compactMap { document in document.change.map { (document.id, $0) } }) { $1 }
        let fields = BSONDocument((["_id"] + phase.touched).map { ($0, 1) })
        return try kernel.retrying {
            var changed: Set<BSONValue> = []
            let reader = IDReader(
                collection: collection,
                options: ["projection": .object(fields), "hint": ["_id": 1], "comment": "shipshape journal"])
            try reader.read(documents.map(\.id)) { view in
                let now = BSONDocument(copying: view)
                guard let id = now["_id"], let change = changes[id], try change.isDone(in: now, at: phase.touched)
                else { return }
                changed.insert(id)
            }
            return changed
        }
    }
}
