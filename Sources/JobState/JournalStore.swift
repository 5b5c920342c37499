package import BSON
package import Mongo

/// The journal of a job in the state database: what undo needs, written before each chunk.
package struct JournalStore {
    let client: StoreClient
    let job: String

    /// An attempt at a chunk, as the journal names it.
    package struct Key: Hashable {
        /// Rises with each attempt, of later runs too, so that none overwrites what an earlier one wrote.
        package var sequence: Int64
        package var pass: Int
        package var phase: Int
        /// The number of the chunk: of two attempts with one number the later is the earlier one's repetition.
        package var chunk: Int

        /// Joins the parts.
        package init(sequence: Int64, pass: Int, phase: Int, chunk: Int) {
            (self.sequence, self.pass, self.phase, self.chunk) = (sequence, pass, phase, chunk)
        }
    }

    private static let collection = "journal"

    /// What an acknowledged attempt has changed of what it had journaled: all, but for these.
    package struct Written: Hashable {
        /// Documents that it did not change: somebody else had changed them meanwhile.
        package var missed: [BSONValue] = []
        /// Documents that look changed, by the attempt or by somebody else.
        package var unsure: [BSONValue] = []

        /// All that the attempt had journaled.
        package init() {}
    }

    /// Writes what a chunk is about to change; nothing of it may be written before this returns.
    /// - Parameter isFinal: whether it waits for a majority; else the chunk's checkpoint does for it.
    /// - Returns: the server's replies, with the primary's term.
    /// - Throws: ``RunError`` of kind `journalFull` when the deployment has no room for it; ``NumberTaken``;
    ///   ``MongoError``.
    package func write(_ journal: ChunkJournal, as key: Key, touched: [String], isFinal: Bool) throws -> [BSONDocument]
    {
        var replies: [BSONDocument] = []
        let parts = journal.parts
        for (index, groups) in parts.enumerated() {
            let id: BSONValue = ["job": .string(job), "range": 0, "seq": .long(key.sequence), "part": .integer(index)]
            var part: BSONDocument = [
                "_id": id, "pass": .integer(key.pass), "phase": .integer(key.phase),
                "chunk": ["number": .integer(key.chunk)], "parts": .integer(parts.count),
                "count": .integer(journal.count), "touched": .array(of: touched.map { .string($0) }), "groups": groups,
            ]
            if !journal.evidence.isEmpty {
                part = part.appending("evidence", .array(of: journal.evidence.map { .string($0) }))
            }
            if index == 0, !journal.created.isEmpty {
                part = part.appending("created", .array(of: journal.created))
            }
            do throws(MongoError) {
                replies.append(try client.insert(Self.collection, part, isFinal: isFinal))
                // What was there already is this very attempt, whose reply was lost, or it is another runner's.
                guard replies.last?.isEmpty == true, try stored(id) != part else { continue }
            } catch {
                guard error.code == .outOfDiskSpace else { throw error }
                throw RunError(
                    .journalFull,
                    "job \"\(job)\" stopped before a chunk, whose journal the deployment has no room for (\(error.message)); "
                        + "make room, drop the journals of jobs that nobody will undo with: shipshape cleanup, and run it "
                        + "again")
            }
            throw NumberTaken()
        }
        return replies
    }

    /// Another attempt has the number already: of a runner that slept, or one whose lease the state database has lost.
    package struct NumberTaken: Error {}

    /// A document of the journal as it is on the primary, whether or not a majority has it.
    private func stored(_ id: BSONValue) throws(MongoError) -> BSONDocument? {
        var cursor = journal.find(["_id": ["$eq": id]], options: ["limit": 1])
        return try cursor.nextDocument()
    }

    /// Records that an attempt's writes were acknowledged, and what they did not change.
    /// - Returns: the server's reply, with the primary's term.
    package func acknowledge(
        _ sequence: Int64, _ written: Written, isFinal: Bool
    ) throws(MongoError) -> BSONDocument {
        var record = BSONDocument([("_id", acknowledgement(of: sequence))])
        for (name, ids) in [("missed", written.missed), ("unsure", written.unsure)] where !ids.isEmpty {
            record = record.appending(name, .array(of: ids))
        }
        return try client.insert(Self.collection, record, isFinal: isFinal)
    }

    /// Takes back that attempts were acknowledged: an election may have undone what they wrote.
    package func withdraw(_ sequences: [Int64]) throws(MongoError) {
        try client.delete(Self.collection, ids: sequences.map { acknowledgement(of: $0) })
    }

    /// What an attempt is known to have written; `nil` where it was not acknowledged.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func written(_ sequence: Int64) throws -> Written? {
        guard let record = try client.firstChecked(Self.collection, ["_id": acknowledgement(of: sequence)]) else {
            return nil
        }
        var written = Written()
        written.missed = record["missed"]?.document?.values ?? []
        written.unsure = record["unsure"]?.document?.values ?? []
        return written
    }

    /// The number of the newest attempt, of whatever run; 0 where there is none.
    package func newest() throws(MongoError) -> Int64 {
        var cursor = journal.find(
            attempts, options: ["sort": ["_id": -1], "limit": 1, "projection": ["_id": 1]])
        return try cursor.nextDocument()?["_id"]?.document?["seq"]?.integer.map { Int64($0) } ?? 0
    }

    private func acknowledgement(of sequence: Int64) -> BSONValue {
        ["job": .string(job), "range": "acknowledged", "seq": .long(sequence)]
    }

    /// The attempts, without what tells that they were acknowledged: names sort behind numbers.
    private var attempts: BSONDocument {
        ["_id": ["$gte": ["job": .string(job), "range": 0], "$lt": ["job": .string(job), "range": 1]]]
    }

    /// All of the job's journal, as a filter with exact index bounds.
    private var journalFilter: BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]]
    }

    /// Removes the job's journal; there is no undo after that.
    /// - Parameter between: called now and then.
    package func drop(_ between: () throws -> Void) throws {
        try client.deleteAll(Self.collection, journalFilter, between)
    }
}

/// The journal as undo reads it: newest first.
extension JournalStore {
    /// What the journal holds of one pass over the collection.
    package struct Pass {
        package var pass: Int
        package var chunks: Int
        package var changes: Int
        package var touched: Set<String>
    }

    private var journal: MongoCollection {
        client.client.collection(Namespace(database: client.database, collection: "journal"))
    }

    private func key(_ position: JournalPosition) -> BSONValue {
        ["job": .string(job), "range": 0, "seq": .long(position.sequence), "part": .integer(position.part)]
    }

    /// The newest document of the journal that is older than `position`, or is it itself.
    package func part(upTo position: JournalPosition?, orAt isIncluded: Bool) throws -> JournalPart? {
        let end = position.map { key($0) } ?? ["job": .string(job), "range": 1]
        let filter: BSONDocument = [
            "_id": ["$gte": ["job": .string(job)], isIncluded && position != nil ? "$lte" : "$lt": end]
        ]
        var cursor = journal.find(
            filter, options: ["sort": ["_id": -1], "limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument().map { try read($0) }
    }

    private func read(_ document: BSONDocument) throws -> JournalPart {
        try client.check(document, of: Self.collection)
        guard let part = try JournalPart(document) else {
            throw client.damage("a field is missing", of: document, in: Self.collection)
        }
        return part
    }

    /// Walks all of it, oldest first.
    package func eachPart(_ body: (JournalPart) throws -> Void) throws {
        var cursor = journal.find(
            attempts,
            options: ["sort": ["_id": 1], "batchSize": 1, "readConcern": ["level": "majority"]])
        while let document = try cursor.nextDocument() { try body(read(document)) }
    }

    /// Whether there is none, without a look into what there is.
    package func isEmpty() throws(MongoError) -> Bool {
        try client.first(Self.collection, attempts, projecting: ["_id": 1]) == nil
    }

    /// What the journal holds, and what it should hold.
    package struct Contents {
        /// By the passes over the collection, the first one first.
        package var passes: [Pass] = []
        /// Attempts that it should hold: they are numbered from 1 on.
        package var attempts = 0
        /// Of those, the ones that it does not hold, or not whole.
        package var missing = 0
        /// Documents that an earlier version of the program changed, and of which it holds nothing: at least so many.
        package var lost = 0
    }

    /// Counts what the journal holds.
    /// - Parameters:
    ///   - last: the number of the last attempt that a checkpoint tells of.
    ///   - earlier: what an earlier version left behind: its attempts are not numbered without a gap.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func contents(upTo last: Int64, behind earlier: EarlierState? = nil) throws -> Contents {
        let names: BSONDocument = ["pass": 1, "parts": 1, "count": 1, "touched": 1]
        var cursor = journal.find(
            attempts,
            options: ["sort": ["_id": 1], "projection": .object(names), "readConcern": ["level": "majority"]])
        var passes: [Int: Pass] = [:]
        var whole = 0
        // The attempts of an earlier version, what they hold, and the number behind which each one counts.
        var (former, changes, start) = (0, 0, earlier?.journaled ?? 0)
        var (sequence, parts, highest) = (Int64(0), 0, last)
        while let document = try cursor.nextDocument() {
            try client.check(document, of: Self.collection)
            let key = document["_id"]?.document
            let number = key?["seq"]?.integer.map { Int64($0) } ?? 0
            if number != sequence { (sequence, parts) = (number, 0) }
            parts += 1
            highest = max(highest, number)
            if let all = document["parts"]?.integer {
                if parts == all { whole += 1 }
            } else if parts == 1 {
                (former, start) = (former + 1, max(start, number))
                changes += document["count"]?.integer ?? 0
            }
            var pass = passes[
                document["pass"]?.integer ?? 0,
                default: Pass(
                    pass: document["pass"]?.integer ?? 0, chunks: 0, changes: 0, touched: [])]
            if parts == 1 {
                pass.chunks += 1
                pass.changes += document["count"]?.integer ?? 0
            }
            pass.touched.formUnion((document["touched"]?.document?.values ?? []).compactMap(\.text))
            passes[pass.pass] = pass
        }
        let numbered = Int(max(highest, start) - start)
        return Contents(
            passes: passes.values.sorted { $0.pass < $1.pass }, attempts: former + numbered,
            missing: numbered - whole, lost: max(0, (earlier?.modified ?? 0) - changes))
    }
}

extension JournalStore {
    /// What one attempt made in other collections.
    package struct CreatedChildren {
        /// The attempt's number in the journal.
        package var sequence: Int64
        package var children: [CreatedChild]
    }

    /// What the newest attempt before this one made that made anything.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func created(before sequence: Int64?) throws -> CreatedChildren? {
        let job = BSONValue.string(job)
        let end: BSONValue =
            sequence.map { ["job": job, "range": 0, "seq": .long($0), "part": 0] } ?? ["job": job, "range": 1]
        var cursor = journal.find(
            ["_id": ["$gte": ["job": job], "$lt": end], "created": ["$exists": true]],
            options: [
                "sort": ["_id": -1], "limit": 1, "projection": ["created": 1], "readConcern": ["level": "majority"],
            ])
        guard let found = try cursor.nextDocument() else { return nil }
        try client.check(found, of: Self.collection)
        guard let sequence = found["_id"]?.document?["seq"]?.integer else {
            return nil
        }
        return CreatedChildren(
            sequence: Int64(sequence),
            children: (found["created"]?.document?.values ?? []).compactMap { CreatedChild($0) })
    }
}
