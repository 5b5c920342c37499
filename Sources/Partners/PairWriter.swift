import BSON
import Backfill
import Concurrency
import JobState
import Jobs
import Mongo

/// Writes documents of one side, each only while it is as it was read, and none once the lease has ended.
struct PairWriter {
    let namespace: Namespace

    private static let majority: BSONValue = ["w": "majority", "wtimeout": 10_000]

    private static func options(_ kernel: borrowing Kernel) -> BSONDocument {
        ["maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds), "comment": "shipshape partner"]
    }

    /// Inserts the documents whose `_id`s are not there.
    ///
    /// They come out of the work's own record, so that the server takes none once the lease has ended.
    /// - Returns: the `_id`s of those that the server refuses, with its code.
    func insert(_ documents: [BSONDocument], under kernel: inout Kernel) throws -> [(id: BSONValue, code: Int)] {
        guard !documents.isEmpty else { return [] }
        var refused: [(id: BSONValue, code: Int)] = []
        for slice in documents.map({ BSONValue.object($0) }).commandSlices(count: 1_000) {
            do {
                try merge(slice, under: &kernel)
            } catch let error as MongoError where error.isOfOneDocument || error.code == .duplicateKey {
                guard let only = slice.first?.document?["_id"], slice.count == 1 else {
                    // The others are inserted all the same.
                    let half = slice.count / 2
                    let parts = [slice[..<half], slice[half...]].map { $0.compactMap(\.document) }
                    for part in parts { refused += try insert(part, under: &kernel) }
                    continue
                }
                refused.append((only, error.code.rawValue))
            }
        }
        return refused
    }

    private func merge(_ documents: [BSONValue], under kernel: inout Kernel) throws {
        FaultInjection.reached(.beforeWrite)
        try kernel.fenced { kernel in
            let records = Namespace(database: kernel.store.client.database, collection: StateStore.streams)
            let pipeline: [BSONDocument] = [
                ["$match": .object(kernel.fencedRecord)],
                ["$project": ["_id": 0, "d": ["$literal": .array(of: documents)]]], ["$unwind": "$d"],
                ["$replaceWith": "$d"],
                [
                    "$merge": [
                        "into": ["db": .string(namespace.database), "coll": .string(namespace.collection)],
                        "whenMatched": "keepExisting", "whenNotMatched": "insert",
                    ]
                ],
            ]
            var cursor = kernel.client.collection(records).aggregate(
                pipeline, options: Self.options(kernel).appending("writeConcern", Self.majority))
            _ = try cursor.next() == nil
        }
        FaultInjection.reached(.afterWrite)
    }

    /// A change of a document that is there.
    struct Change {
        /// The document as it was read.
        var before: BSONDocument
        /// What takes its place; `nil` deletes it.
        var after: BSONDocument?
        var id: BSONValue { before["_id"] ?? .undefined }
    }

    /// What became of changes.
    struct Outcome {
        /// Those whose document was not as it was read: nothing was written there.
        var unchanged: [BSONValue] = []
        /// Those that the server refuses, with its code.
        var refused: [(id: BSONValue, code: Int)] = []
    }

    /// Replaces and deletes documents, where each is as it was read.
    func change(_ changes: [Change], under kernel: inout Kernel) throws -> Outcome {
        var outcome = Outcome()
        var start = changes.startIndex
        let sizes = changes.map { BSONValue.array(of: [.object($0.before), .object($0.after ?? [:])]) }
        for slice in sizes.commandSlices(count: 500) {
            let part = Array(changes[start..<start + slice.count])
            start += slice.count
            FaultInjection.reached(.beforeWrite)
            let (matched, refused) = try kernel.fenced { kernel in try send(part, kernel) }
            FaultInjection.reached(.afterWrite)
            outcome.refused += refused
            guard matched < part.count else { continue }
            // Those that were not written, or whose reply was lost once they were.
            let ids = part.map(\.id)
            let now = try kernel.retrying {
                try kernel.client.collection(namespace).find(
                    ["_id": ["$in": .array(of: ids)]], options: ["readConcern": ["level": "local"]]
                ).documents()
            }
            let present = Dictionary(now.map { (IDKey($0["_id"] ?? .undefined), $0) }) { first, _ in first }
            outcome.unchanged += part.filter { change in
                guard let after = change.after else { return present[IDKey(change.id)] != nil }
                return present[IDKey(change.id)].map { !$0.hasSameFields(as: after) } ?? true
            }.map(\.id)
        }
        return outcome
    }

    private func send(
        _ changes: [Change], _ kernel: borrowing Kernel
    ) throws -> (matched: Int, refused: [(id: BSONValue, code: Int)]) {
        let collection = kernel.client.collection(namespace)
        let fence = kernel.lease.fence.bson
        func filter(_ change: Change) -> BSONDocument {
            let isAsRead: BSONValue = ["$eq": ["$$ROOT", ["$literal": .object(change.before)]]]
            return ["_id": ["$eq": change.id], "$expr": ["$and": [isAsRead, fence]]]
        }
        let options = Self.options(kernel).appending("writeConcern", Self.majority)
        var matched = 0
        var refused: [(id: BSONValue, code: Int)] = []
        let updates = changes.filter { $0.after != nil }
        if !updates.isEmpty {
            let statements = updates.map { UpdateStatement(filter($0), .object($0.after ?? [:])) }
            let reply = try collection.update(
                statements, isOrdered: false, collectsWriteErrors: true, options: options)
            matched += reply.matched
            refused += reply.writeErrors.map { (updates[$0.index].id, $0.code.rawValue) }
        }
        let deletes = changes.filter { $0.after == nil }
        if !deletes.isEmpty {
            matched += try collection.delete(
                deletes.map { DeleteStatement(filter($0)) }, isOrdered: false, options: options
            ).matched
        }
        return (matched, refused)
    }
}
