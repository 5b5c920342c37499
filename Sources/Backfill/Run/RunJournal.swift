import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The journal of a run: the attempts at its chunks, and what each of them has written.
struct RunJournal {
    /// The attempt at hand, until it is recorded what it has written.
    private(set) var attempt: JournaledAttempt?
    /// The fields that tell documents from others of the same `_id`; `nil` before the first pass.
    private(set) var evidence: DocumentEvidence?
    /// Documents that were made in other collections for such as were changed before they were linked.
    private(set) var unlinked = 0
    /// Whether the server reads documents as they were at a time that was.
    private let readsMoments: Bool
    /// The number of the newest attempt; `nil` before this run's first.
    private var sequence: Int64?
    /// The attempts of the chunk at hand of which it is recorded what they have written.
    private var acknowledged: [Int64] = []

    /// - Parameter readsMoments: whether the server reads documents as they were at a time that was.
    init(readsMoments: Bool = false) { self.readsMoments = readsMoments }

    /// Begins a chunk.
    mutating func begin() { (attempt, acknowledged) = (nil, []) }

    // MARK: Before the write

    /// Chooses the fields that tell documents from others that have their `_id`s later.
    ///
    /// They are, of those that the job does not write, the ones that differ most among the first and the last documents: a
    /// random sample would cost the server as much as thousands of writes.
    mutating func chooseEvidence(for job: CompiledJob, _ kernel: inout Kernel) throws {
        guard evidence == nil else { return }
        // What a refresh reads is expected to change.
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

    /// Journals what is about to be changed.
    /// - Parameters:
    ///   - key: the attempt's place; its number is given here.
    ///   - durability: takes the server's replies.
    /// - Returns: the documents that are journaled, and may be written.
    mutating func write(
        _ documents: [DueDocument], of phase: Phase, as key: JournalStore.Key, _ durability: inout WriteDurability,
        _ kernel: inout Kernel
    ) throws -> [DueDocument] {
        var entries = ChunkJournal(touched: phase.touched, evidence: evidence?.names ?? [])
        let written = try documents.filter { document in
            guard let change = document.change,
                try entries.add(
                    document.id, before: change.before, after: change.after,
                    positions: phase.isServerSide ? change.positions : nil, evidence: change.evidence)
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

    /// The number of the next attempt: they are numbered without a gap, whichever run makes them.
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

    /// Makes sure of a chunk's journals that no majority may have: what they tell of may have outlived them.
    static func confirm(_ durability: inout WriteDurability, _ kernel: borrowing Kernel) throws {
        for journal in durability.unconfirmed { _ = try send(journal, isFinal: true, kernel) }
        durability.confirmed()
    }

    // MARK: Which documents the first write found as it wants them

    /// What is sent to change the attempt's documents.
    mutating func sends(_ updates: [ChunkWriter.Update]) { attempt?.updates = updates }

    /// Keeps in mind by what it can be told later which documents of the attempt at hand its first write found as it wants
    /// them.
    mutating func noteStart(in namespace: Namespace, _ kernel: borrowing Kernel) throws {
        guard let documents = attempt?.documents, let updates = attempt?.updates, attempt?.start == nil else { return }
        attempt?.start = .unknown
        if readsMoments {
            let time = try kernel.retrying { try kernel.client.operationTime() }
            attempt?.start = time > 0 ? .time(time) : .unknown
        } else if updates.count <= Self.mostAsked,
            let ready = try Self.find(documents.map(\.id), readyFor: updates, at: nil, in: namespace, kernel)
        {
            attempt?.start = .ready(ready)
        }
    }

    /// The most updates of which is asked whether documents were ready for them: those of the client are of one document each.
    private static let mostAsked = 200

    /// Which of the documents were as the attempt's writes want them, just before the first; `nil` where nobody knows.
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

    /// Which of the documents are as their updates want them, now or at a time that was; `nil` where the server cannot tell.
    private static func find(
        _ ids: [BSONValue], readyFor updates: [ChunkWriter.Update], at time: UInt64?, in namespace: Namespace,
        _ kernel: borrowing Kernel
    ) throws -> Set<BSONValue>? {
        let asked = Set(ids)
        let wanted = updates.compactMap { update in
            let ids = update.ids.filter(asked.contains)
            return ids.isEmpty ? nil : (update, ids)
        }
        guard wanted.count <= mostAsked else { return nil }
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
            // Such as a time that is too long ago.
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
            // A majority may be long in reaching it: the chunk's checkpoint says that better.
            command = command.appending("readConcern", ["level": "snapshot", "atClusterTime": .timestamp(time)])
                .appending("maxTimeMS", .long(kernel.lease.terms.writeLimit.milliseconds))
        }
        let reply = try kernel.client.runCommand(command, on: namespace.database)
        guard let cursor = reply["cursor"]?.document, cursor["id"]?.integer == 0 else { return nil }
        return cursor["firstBatch"]?.document?.values.compactMap { $0.document?["_id"] }
    }

    // MARK: Behind the write

    /// A write of the attempt was acknowledged.
    mutating func wrote(_ modified: Int) { attempt?.wrote(modified) }

    /// A write of the attempt failed.
    /// - Returns: whether its reply was lost, so that ``countAnew(_:)`` has to look before it is sent again.
    mutating func failed(_ error: MongoError, isPerDocument: Bool) -> Bool {
        attempt?.failed(error, isPerDocument: isPerDocument) == false
    }

    /// Looks what a write did whose reply was lost, before it is sent again.
    mutating func countAnew(_ phase: Phase, in collection: MongoCollection, _ kernel: borrowing Kernel) throws {
        guard let documents = attempt?.documents else { return }
        attempt?.countAnew(without: try Self.changed(documents, by: phase, in: collection, kernel))
    }

    /// Records what the attempt at hand has written, as undo touches nothing else.
    ///
    /// The chunk's checkpoint waits for a majority.
    mutating func acknowledge(
        _ phase: Phase, in collection: MongoCollection, _ durability: inout WriteDurability,
        _ kernel: borrowing Kernel
    ) throws {
        guard let attempt else { return }
        var written = JournalStore.Written()
        if attempt.start == nil {
            // Nothing of it was sent.
            written.missed = attempt.documents.map(\.id)
        } else if !attempt.isWhole {
            let changed = try Self.changed(attempt.documents, by: phase, in: collection, kernel)
            let others = attempt.documents.map(\.id).filter { !changed.contains($0) && !attempt.doubtful.contains($0) }
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

    /// Takes back what is recorded of the chunk's attempts: an election may have undone what they wrote.
    func withdraw(_ kernel: borrowing Kernel) throws {
        try kernel.retrying { try kernel.store.journal.withdraw(acknowledged) }
    }

    /// Which of the documents look as the phase would leave them.
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
