package import BSON
package import Mongo

/// The journal of a job in the state database: the data that undo needs, written before each chunk.
package struct JournalStore {
    let client: StoreClient
    let job: String

    /// The key under which the journal stores an attempt to write a chunk.
    package struct Key: Hashable {
        /// A number that rises with each attempt, over all runs, so that no attempt overwrites an earlier one.
        package var sequence: Int64
        /// The number of the pass over the collection.
        package var pass: Int
        /// The index of the phase that the attempt runs.
        package var phase: Int
        /// The number of chunks that were done before the attempt's documents were read.
        ///
        /// If one read supplies the documents of several chunks, these chunks have the same number.
        package var chunk: Int

        /// Creates the key of an attempt from its parts.
        package init(sequence: Int64, pass: Int, phase: Int, chunk: Int) {
            (self.sequence, self.pass, self.phase, self.chunk) = (sequence, pass, phase, chunk)
        }
    }

    private static let collection = "journal"

    /// The writes of an acknowledged attempt at a chunk, stored as exceptions: the attempt changed every document that
    /// it had journaled, except those listed here.
    package struct Written: Hashable {
        /// The `_id`s of the documents that the attempt did not change, for instance because another client had changed
        /// them.
        package var missed: [BSONValue] = []
        /// The `_id`s of the documents that the attempt may or may not have changed.
        package var unsure: [BSONValue] = []

        /// Creates the record of an attempt that changed every document that it had journaled.
        package init() {}
    }

    /// Writes the journal of a chunk; the caller must not write the chunk before this method returns.
    /// - Parameter isFinal: whether to wait until a majority of the members has the journal; if `false`, only the
    ///   primary acknowledges the journal, and the chunk's checkpoint waits for the majority.
    /// - Returns: the server's replies, with the primary's term.
    /// - Throws: ``RunError`` of kind `journalFull` when the deployment has no disk space for the journal;
    ///   ``NumberTaken``; ``MongoError``.
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
                // If the journal already had a document with this `_id`, either this attempt wrote it and the reply was
                // lost, or another runner wrote it. Only a document from this attempt has the same content.
                guard replies.last?.isEmpty == true, try stored(id) != part else { continue }
            } catch {
                guard error.code == .outOfDiskSpace else { throw error }
                throw RunError(
                    .journalFull,
                    "job \"\(job)\" stopped before a chunk, because the deployment has no room for its journal "
                        + "(\(error.message)); free some room, for example with shipshape job cleanup for jobs that "
                        + "you will not undo; then run it again")
            }
            throw NumberTaken()
        }
        return replies
    }

    /// The error for an attempt whose number another runner has used in the journal.
    ///
    /// The other runner wrote to the journal although it no longer held the lease: it was suspended, or its lease was
    /// deleted from the state database.
    package struct NumberTaken: Error {}

    /// Returns a document of the journal as it is on the primary, even if no majority has it; `nil` if there is none.
    private func stored(_ id: BSONValue) throws(MongoError) -> BSONDocument? {
        var cursor = journal.find(["_id": ["$eq": id]], options: ["limit": 1])
        return try cursor.nextDocument()
    }

    /// Records that the server acknowledged an attempt's writes, with the documents that the attempt did not change, or
    /// might not have changed.
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

    /// Deletes the acknowledgements of attempts at chunks, because an election may have rolled back the attempts'
    /// writes.
    package func withdraw(_ sequences: [Int64]) throws(MongoError) {
        try client.delete(Self.collection, ids: sequences.map { acknowledgement(of: $0) })
    }

    /// Returns the documents that an attempt at a chunk did not change, or might not have changed.
    ///
    /// These documents are stored with the acknowledgement of the attempt; the result is `nil` if no acknowledgement is
    /// recorded.
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

    /// Returns the number of the job's newest attempt in the journal, of any run; 0 if there is none.
    package func newest() throws(MongoError) -> Int64 {
        var cursor = journal.find(
            attempts, options: ["sort": ["_id": -1], "limit": 1, "projection": ["_id": 1]])
        return try cursor.nextDocument()?["_id"]?.document?["seq"]?.integer.map { Int64($0) } ?? 0
    }

    private func acknowledgement(of sequence: Int64) -> BSONValue {
        ["job": .string(job), "range": "acknowledged", "seq": .long(sequence)]
    }

    /// A filter for the journal documents of the job's attempts.
    ///
    /// The filter does not match acknowledgements, because their `range` is a string, which sorts after numbers.
    private var attempts: BSONDocument {
        ["_id": ["$gte": ["job": .string(job), "range": 0], "$lt": ["job": .string(job), "range": 1]]]
    }

    /// A filter for all documents of the job in the collection `journal`.
    ///
    /// The bounds fit the index on `_id` exactly, so the server reads no other documents.
    private var journalFilter: BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]]
    }

    /// Deletes the job's journal; no undo is possible after that.
    /// - Parameter between: called before each batch of deletes.
    package func drop(_ between: () throws -> Void) throws {
        try client.deleteAll(Self.collection, journalFilter, between)
    }
}

/// Reads the journal, for undo and for reports.
extension JournalStore {
    /// A summary of the job's journal for one pass over the collection.
    package struct Pass {
        /// The number of the pass.
        package var pass: Int
        /// The number of attempts at chunks in the pass.
        package var chunks: Int
        /// The number of documents in the journal for the pass, added up over its attempts.
        package var changes: Int
        /// The names of the fields that the attempts of the pass touch.
        package var touched: Set<String>
    }

    private var journal: MongoCollection {
        client.client.collection(Namespace(database: client.database, collection: "journal"))
    }

    private func key(_ position: JournalPosition) -> BSONValue {
        ["job": .string(job), "range": 0, "seq": .long(position.sequence), "part": .integer(position.part)]
    }

    /// Returns the newest document of the journal that is older than `position`; `nil` if there is none.
    ///
    /// If `isIncluded` is `true`, the result can also be the document at `position`. Without a `position`, the result
    /// is the newest document of the whole journal.
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

    /// Calls `body` with each document of the journal, the oldest first.
    package func eachPart(_ body: (JournalPart) throws -> Void) throws {
        var cursor = journal.find(
            attempts,
            options: ["sort": ["_id": 1], "batchSize": 1, "readConcern": ["level": "majority"]])
        while let document = try cursor.nextDocument() { try body(read(document)) }
    }

    /// Whether the journal contains no attempt at a chunk; reads at most one `_id`.
    package func isEmpty() throws(MongoError) -> Bool {
        try client.first(Self.collection, attempts, projecting: ["_id": 1]) == nil
    }

    /// A summary of the job's journal, with the number of attempts that are missing from it.
    package struct Contents {
        /// The summaries of the passes, the first pass first.
        package var passes: [Pass] = []
        /// The number of attempts at chunks that the journal should hold.
        ///
        /// Attempts are numbered without gaps, so the numbers show how many there should be. Earlier versions of the
        /// program left gaps; of their attempts, only those in the journal count.
        package var attempts = 0
        /// The number of attempts at chunks that are missing from the journal, or incomplete in it.
        package var missing = 0
        /// A lower bound for the number of documents that an earlier version of the program changed without an entry in
        /// the journal.
        package var lost = 0
    }

    /// Counts the attempts and changes in the job's journal, and the attempts that are missing from it.
    /// - Parameters:
    ///   - last: the number of the last attempt that a checkpoint recorded.
    ///   - earlier: the state of the job from an earlier version of the program, which numbered attempts with gaps;
    ///     `nil` if there is none.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func contents(upTo last: Int64, after earlier: EarlierState? = nil) throws -> Contents {
        let names: BSONDocument = ["pass": 1, "parts": 1, "count": 1, "touched": 1]
        var cursor = journal.find(
            attempts,
            options: ["sort": ["_id": 1], "projection": .object(names), "readConcern": ["level": "majority"]])
        var passes: [Int: Pass] = [:]
        var whole = 0
        // For the attempts of an earlier version of the program, `former` counts the attempts, `changes` counts the
        // documents that they journaled, and `start` is the highest number of an attempt. Above `start`, attempts are
        // numbered without gaps.
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
    /// The documents that one attempt at a chunk created in other collections.
    package struct CreatedChildren {
        /// The attempt's number in the journal.
        package var sequence: Int64
        /// The documents that the attempt created.
        package var children: [CreatedChild]
    }

    /// Returns the documents that the newest attempt before `sequence` created in other collections; attempts that
    /// created none are skipped.
    ///
    /// Without a `sequence`, all attempts are searched. The result is `nil` if no attempt created any.
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
