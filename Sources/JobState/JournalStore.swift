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

    /// Writes what a chunk is about to change; nothing of it may be written before this returns.
    /// - Parameter isFinal: whether it waits for a majority; else the chunk's checkpoint does for it.
    /// - Returns: the server's replies, with the primary's term.
    /// - Throws: ``BackfillError`` of kind `journalFull` when the deployment has no room for it; ``MongoError``.
    package func write(_ journal: ChunkJournal, as key: Key, touched: [String], isFinal: Bool) throws -> [BSONDocument]
    {
        var replies: [BSONDocument] = []
        for (index, groups) in journal.parts.enumerated() {
            var part: BSONDocument = [
                "_id": ["job": .string(job), "range": 0, "seq": .long(key.sequence), "part": .integer(index)],
                "pass": .integer(key.pass), "phase": .integer(key.phase), "chunk": ["number": .integer(key.chunk)],
                "count": .integer(journal.count), "touched": .array(of: touched.map { .string($0) }), "groups": groups,
            ]
            if index == 0, !journal.created.isEmpty {
                part = part.appending("created", .array(of: journal.created))
            }
            do throws(MongoError) {
                replies.append(try client.insert(Self.collection, part, isFinal: isFinal))
            } catch {
                guard error.code == .outOfDiskSpace else { throw error }
                throw BackfillError(
                    .journalFull,
                    "job \"\(job)\" stopped before a chunk, whose journal the deployment has no room for (\(error.message)); "
                        + "make room, drop the journals of jobs that nobody will undo with: shipshape cleanup, and run it "
                        + "again")
            }
        }
        return replies
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
        let end = position.map { key($0) } ?? ["job": .string(job), "range": .maxKey]
        let filter: BSONDocument = [
            "_id": ["$gte": ["job": .string(job)], isIncluded && position != nil ? "$lte" : "$lt": end]
        ]
        var cursor = journal.find(
            filter, options: ["sort": ["_id": -1], "limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument().map { try JournalPart($0) }
    }

    /// Walks all of it, oldest first.
    package func eachPart(_ body: (JournalPart) throws -> Void) throws {
        var cursor = journal.find(
            ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]],
            options: ["sort": ["_id": 1], "batchSize": 1, "readConcern": ["level": "majority"]])
        while let document = try cursor.nextDocument() { try body(JournalPart(document)) }
    }

    /// Whether there is none.
    package func isEmpty() throws -> Bool { try part(upTo: nil, orAt: false) == nil }

    /// What the journal holds, by the passes over the collection.
    package func passes() throws -> [Pass] {
        let isFirst: BSONValue = ["$eq": ["$_id.part", 0]]
        var cursor = journal.aggregate(
            [
                ["$match": ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]]],
                [
                    "$group": [
                        "_id": "$pass", "chunks": ["$sum": ["$cond": [isFirst, 1, 0]]],
                        "changes": ["$sum": ["$cond": [isFirst, "$count", 0]]], "touched": ["$addToSet": "$touched"],
                    ]
                ],
            ], options: ["readConcern": ["level": "majority"]])
        var passes: [Pass] = []
        while let document = try cursor.nextDocument() {
            let touched = (document["touched"]?.document?.values ?? []).flatMap { $0.document?.values ?? [] }
            passes.append(
                Pass(
                    pass: document["_id"]?.integer ?? 0, chunks: document["chunks"]?.integer ?? 0,
                    changes: document["changes"]?.integer ?? 0, touched: Set(touched.compactMap(\.text))))
        }
        return passes
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
    package func created(before sequence: Int64?) throws(MongoError) -> CreatedChildren? {
        let job = BSONValue.string(job)
        let end: BSONValue =
            sequence.map { ["job": job, "range": 0, "seq": .long($0), "part": 0] } ?? ["job": job, "range": .maxKey]
        var cursor = journal.find(
            ["_id": ["$gte": ["job": job], "$lt": end], "created": ["$exists": true]],
            options: [
                "sort": ["_id": -1], "limit": 1, "projection": ["created": 1], "readConcern": ["level": "majority"],
            ])
        guard let found = try cursor.nextDocument(), let sequence = found["_id"]?.document?["seq"]?.integer else {
            return nil
        }
        return CreatedChildren(
            sequence: Int64(sequence),
            children: (found["created"]?.document?.values ?? []).compactMap { CreatedChild($0) })
    }
}
