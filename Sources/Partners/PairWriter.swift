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

    /// What is done where another document stands under an `_id`.
    enum Presence: String {
        /// It stays: a run before this one made it.
        case keep = "keepExisting"
        /// It is named as one that was not as it was read.
        case tell = "fail"
    }

    /// Inserts documents.
    ///
    /// They come out of the work's own record, so that the server takes none once the lease has ended.
    func insert(
        _ documents: [BSONDocument], where present: Presence, under kernel: inout Kernel
    ) throws -> Outcome {
        var outcome = Outcome()
        for slice in documents.map({ BSONValue.object($0) }).commandSlices(count: 1_000) {
            do {
                try merge(slice, where: present, under: &kernel)
            } catch let error as MongoError where error.isOfOneDocument || error.code == .duplicateKey {
                var rest = slice.compactMap(\.document)
                if present == .tell {
                    // Those that were inserted before it came to the one that it could not insert are there, too.
                    let found = try read(rest.compactMap { $0["_id"] }, kernel)
                    outcome.unchanged += rest.filter { document in
                        found[IDKey(document["_id"] ?? .undefined)].map { !$0.hasSameFields(as: document) } ?? false
                    }.compactMap { $0["_id"] }
                    rest.removeAll { found[IDKey($0["_id"] ?? .undefined)] != nil }
                }
                guard rest.count == 1, slice.count == 1, let only = rest.first?["_id"] else {
                    // The others are inserted all the same.
                    let half = (rest.count + 1) / 2
                    for part in [rest.prefix(half), rest.dropFirst(half)] where !part.isEmpty {
                        let more = try insert(Array(part), where: present, under: &kernel)
                        outcome.unchanged += more.unchanged
                        outcome.refused += more.refused
                    }
                    continue
                }
                outcome.refused.append((only, error.code.rawValue))
            }
        }
        return outcome
    }

    private func merge(_ documents: [BSONValue], where present: Presence, under kernel: inout Kernel) throws {
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
                        "whenMatched": .string(present.rawValue), "whenNotMatched": "insert",
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
            let present = try read(ids, kernel)
            outcome.unchanged += part.filter { change in
                guard let after = change.after else { return present[IDKey(change.id)] != nil }
                return present[IDKey(change.id)].map { !$0.hasSameFields(as: after) } ?? true
            }.map(\.id)
        }
        return outcome
    }

    /// The documents that are there now, by their `_id`s.
    private func read(_ ids: [BSONValue], _ kernel: borrowing Kernel) throws -> [IDKey: BSONDocument] {
        let now = try kernel.retrying {
            try kernel.client.collection(namespace).find(
                ["_id": ["$in": .array(of: ids)]], options: ["readConcern": ["level": "local"]]
            ).documents()
        }
        return Dictionary(now.map { (IDKey($0["_id"] ?? .undefined), $0) }) { first, _ in first }
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
