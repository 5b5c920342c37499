import BSON
import JobReports
import JobState
import Mongo
import Scanning
import Steps

extension RebindPlan {
    /// Compares the job's journal with the existing collection.
    mutating func compare(_ store: borrowing StateStore) throws {
        let collection = store.client.client.collection(namespace)
        var position: JournalPosition?
        while let part = try store.journal.part(before: position) {
            for entries in part.entries.slices(count: 1_000, bytes: 4 << 20, size: { $0.id.byteCount }) {
                try compare(entries, of: part, in: collection)
            }
            position = part.position
        }
        if changes == 0, let last = Progress(try store.ranges.document() ?? [:]).last {
            hasLast = try !found([last], in: collection, [:]).isEmpty
        }
    }

    private mutating func compare(
        _ entries: [JournalPart.Entry], of part: JournalPart, in collection: MongoCollection
    ) throws {
        let fields = ["_id"] + part.touched + part.evidence.names
        let documents = try found(entries.map(\.id), in: collection, BSONDocument(fields.map { ($0, 1) }))
        changes += entries.count
        for entry in entries {
            guard let document = documents[IDKey(entry.id)] else {
                gone += 1
                continue
            }
            if let evidence = entry.evidence, evidence.contains(where: { $0 != 0 }) {
                if try part.evidence.isReplaced(document, since: evidence) { others += 1 } else { same += 1 }
                continue
            }
            // Without evidence of the document's identity in the journal, the document's fields decide. If they are as
            // the job wrote them, or as the job found them, the document counts as the one that the job changed.
            let group = part.groups[entry.group]
            switch try group.compare(document) {
            case .asWritten: same += 1
            case .asBefore where !group.before.isEmpty: same += 1
            case .asBefore, .changed: break
            }
        }
    }

    private func found(
        _ ids: [BSONValue], in collection: MongoCollection, _ projection: BSONDocument
    ) throws -> [IDKey: BSONDocument] {
        try IDReader(
            collection: collection,
            options: ["projection": .object(projection), "hint": ["_id": 1], "comment": "shipshape job rebind"]
        ).documents(ids)
    }
}
