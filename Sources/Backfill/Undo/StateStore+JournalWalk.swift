import BSON
import Mongo

/// The journal as undo reads it: newest first.
extension StateStore {
    /// What the journal holds of one walk over the collection.
    struct JournaledPass {
        var pass: Int
        var chunks: Int
        var changes: Int
        var touched: Set<String>
    }

    private var journal: MongoCollection {
        client.client.collection(Namespace(database: client.database, collection: "journal"))
    }

    private func key(_ position: JournalPosition) -> BSONValue {
        ["job": .string(job), "range": 0, "seq": .long(position.sequence), "part": .integer(position.part)]
    }

    /// The newest document of the journal that is older than `position`, or is it itself.
    func journalPart(upTo position: JournalPosition?, orAt isIncluded: Bool) throws -> JournalPart? {
        let end = position.map { key($0) } ?? ["job": .string(job), "range": .maxKey]
        let filter: BSONDocument = [
            "_id": ["$gte": ["job": .string(job)], isIncluded && position != nil ? "$lte" : "$lt": end]
        ]
        var cursor = journal.find(
            filter, options: ["sort": ["_id": -1], "limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument().map { try JournalPart($0) }
    }

    /// Walks all of it, oldest first.
    func eachJournalPart(_ body: (JournalPart) throws -> Void) throws {
        var cursor = journal.find(
            ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]],
            options: ["sort": ["_id": 1], "batchSize": 1, "readConcern": ["level": "majority"]])
        while let document = try cursor.nextDocument() { try body(JournalPart(document)) }
    }

    /// Whether there is any.
    func hasJournal() throws -> Bool { try journalPart(upTo: nil, orAt: false) != nil }

    /// What the journal holds, by the walks over the collection.
    func journaledPasses() throws -> [JournaledPass] {
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
        var passes: [JournaledPass] = []
        while let document = try cursor.nextDocument() {
            let touched = (document["touched"]?.document?.values ?? []).flatMap { $0.document?.values ?? [] }
            passes.append(
                JournaledPass(
                    pass: document["_id"]?.integer ?? 0, chunks: document["chunks"]?.integer ?? 0,
                    changes: document["changes"]?.integer ?? 0, touched: Set(touched.compactMap(\.text))))
        }
        return passes
    }
}
