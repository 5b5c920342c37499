package import BSON
package import Mongo

/// The journal of a job in the state database: the data that undo needs, written in the transaction of each chunk.
package struct JournalStore {
    let client: StoreClient
    let job: String

    package static let collection = "journal"

    /// Returns the documents that store the journal of a chunk; they are inserted in the chunk's own transaction.
    /// - Parameters:
    ///   - sequence: the chunk's number, which is greater than the numbers of all chunks that are committed already.
    ///     A number whose transaction was not committed stays unused.
    ///   - phase: the index of the phase that the chunk went through.
    ///   - group: the number of chunks that were done before the chunk's documents were found. If one read supplies the
    ///     documents of several chunks, these chunks have the same number.
    package func documents(
        _ journal: ChunkJournal, sequence: Int64, pass: Int, phase: Int, group: Int, touched: [String]
    ) -> [BSONDocument] {
        let parts = journal.parts
        return parts.enumerated().map { index, groups in
            var part: BSONDocument = [
                "_id": key(JournalPosition(sequence: sequence, part: index)),
                "pass": .integer(pass), "phase": .integer(phase),
                "chunk": ["number": .integer(group)], "parts": .integer(parts.count),
                "count": .integer(journal.count), "touched": .array(of: touched.map { .string($0) }), "groups": groups,
            ]
            if !journal.evidence.isEmpty {
                part = part.appending("evidence", .array(of: journal.evidence.map { .string($0) }))
            }
            if index == 0, !journal.created.isEmpty {
                part = part.appending("created", .array(of: journal.created))
            }
            return part
        }
    }

    /// Inserts documents of the journal outside of a transaction, for a test that injects this mistake.
    package func insertOutside(_ documents: [BSONDocument]) throws(MongoError) {
        for document in documents { try client.insert(Self.collection, document) }
    }

    /// Returns the error for a deployment that has no room for the journal of the next chunk.
    package func full(_ error: MongoError) -> RunError {
        RunError(
            .journalFull,
            "job \"\(job)\" stopped before a chunk, because the deployment has no room for its journal "
                + "(\(error.message)); free some room, for example with shipshape job cleanup for jobs that you will "
                + "not undo; then run it again")
    }

    /// Ends a run whose record or journal another client removed, because an undo would not know what the job changed.
    /// - Parameters:
    ///   - chunk: the number of a chunk that the run has in the journal, and how many chunks the journal had with it;
    ///     `nil` if the run keeps no journal.
    ///   - ranges: the store of the job's progress.
    /// - Throws: ``RunError``; ``MongoError``.
    package func expectKept(_ chunk: (sequence: Int64, count: Int)?, _ ranges: RangeStore) throws {
        let jobs = JobStore(client: client, job: job)
        let isKept =
            try chunk.map { chunk in
                let id = key(JournalPosition(sequence: chunk.sequence, part: 0))
                // A majority may not have the chunk yet, so the primary is asked for what it has.
                var cursor = journal.find(["_id": id], options: ["limit": 1, "projection": ["_id": 1]])
                if try cursor.nextDocument() != nil { return true }
                // A new primary may lack the last chunks of the run. The job's progress then lacks them, too.
                return try ranges.document()?["journaled"]?.integer.map { $0 < chunk.count } ?? false
            } ?? true
        guard try !isKept || jobs.record() == nil else { return }
        throw RunError(
            .checkpointUnreadable,
            "the \(isKept ? "record" : "journal") of job \"\(job)\" was deleted from database "
                + "\"\(client.database)\" while it ran, so an undo cannot restore all that the job changed; restore "
                + "that database, or run the job again")
    }

    /// Returns the update that replaces a document of the journal by what is left of it.
    /// - Parameter rest: the groups that are left, as ``JournalPart/rest(without:)`` returns them.
    package func replacing(_ position: JournalPosition, by rest: BSONValue) -> UpdateStatement {
        UpdateStatement(["_id": key(position)], ["$set": ["groups": rest]])
    }

    /// Returns the number of the newest chunk in the job's journal; 0 if there is none.
    package func newest() throws(MongoError) -> Int64 {
        var cursor = journal.find(attempts, options: ["sort": ["_id": -1], "limit": 1, "projection": ["_id": 1]])
        return try cursor.nextDocument()?["_id"]?.document?["seq"]?.integer.map { Int64($0) } ?? 0
    }

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

extension JournalStore {
    /// A summary of the job's journal for one pass over the collection.
    package struct Pass {
        package var pass: Int
        /// The number of attempts at chunks in the pass.
        package var chunks: Int
        /// The number of documents in the journal for the pass, added up over its attempts.
        package var changes: Int
        /// The names of the fields that the attempts of the pass touch.
        package var touched: Set<String>
    }

    private var journal: MongoCollection { client.collection(Self.collection) }

    private func key(_ position: JournalPosition) -> BSONValue {
        ["job": .string(job), "range": 0, "seq": .long(position.sequence), "part": .integer(position.part)]
    }

    /// Returns the newest document of the journal that is older than `position` and still has a change to undo; `nil`
    /// if there is none.
    ///
    /// Without a `position`, the whole journal is searched.
    package func part(before position: JournalPosition?) throws -> JournalPart? {
        var cursor = journal.find(
            before(position).appending("groups", ["$ne": []]),
            options: ["sort": ["_id": -1], "limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument().map { try read($0) }
    }

    private func before(_ position: JournalPosition?) -> BSONDocument {
        let end = position.map { key($0) } ?? ["job": .string(job), "range": 1]
        return ["_id": ["$gte": ["job": .string(job)], "$lt": end]]
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

    /// A summary of the job's journal, with the number of chunks that are missing from it.
    package struct Contents {
        /// The summaries of the passes, the first pass first.
        package var passes: [Pass] = []
        /// The number of chunks that the journal should hold, as the checkpoints count them.
        package var attempts = 0
        /// The number of chunks that are missing from the journal, or incomplete in it.
        package var missing = 0
    }

    /// Counts the chunks and changes in the job's journal, and the chunks that are missing from it.
    /// - Parameter count: the number of chunks in the journal according to the checkpoints.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func contents(of count: Int) throws -> Contents {
        let names: BSONDocument = ["pass": 1, "parts": 1, "count": 1, "touched": 1]
        var cursor = journal.find(
            attempts,
            options: ["sort": ["_id": 1], "projection": .object(names), "readConcern": ["level": "majority"]])
        var passes: [Int: Pass] = [:]
        var whole = 0
        var (sequence, parts, found) = (Int64(0), 0, 0)
        while let document = try cursor.nextDocument() {
            try client.check(document, of: Self.collection)
            let number = document["_id"]?.document?["seq"]?.integer.map { Int64($0) } ?? 0
            if number != sequence { (sequence, parts, found) = (number, 0, found + 1) }
            parts += 1
            if parts == document["parts"]?.integer { whole += 1 }
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
        let attempts = max(count, found)
        return Contents(
            passes: passes.values.sorted { $0.pass < $1.pass }, attempts: attempts, missing: attempts - whole)
    }
}

extension JournalStore {
    /// The documents that one attempt at a chunk created in other collections.
    package struct CreatedChildren {
        /// The attempt's number in the journal.
        package var sequence: Int64
        package var children: [CreatedChild]
    }

    /// Returns the documents that the newest attempt before `sequence` created in other collections; attempts that
    /// created none are skipped.
    ///
    /// Without a `sequence`, all attempts are searched. The result is `nil` if no attempt created any.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func created(before sequence: Int64?) throws -> CreatedChildren? {
        let filter = before(sequence.map { JournalPosition(sequence: $0, part: 0) })
        var cursor = journal.find(
            filter.appending("created", ["$exists": true]),
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
