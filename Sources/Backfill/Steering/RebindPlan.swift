package import BSON
import JobState
import Mongo
import Scanning
import Steps

/// A collection that has another UUID than the one that a job was started on, held against what the job knows of that.
package struct RebindPlan: Sendable {
    package let job: String
    package let namespace: Namespace
    /// The UUID that the job is bound to.
    package let was: BSONValue
    /// That of the collection which is there.
    package let now: BSONValue
    /// The changes in the job's journal.
    package internal(set) var changes = 0
    /// Of them, those of documents that are there, and are the ones that the job changed.
    package internal(set) var same = 0
    /// Those of documents that are not there.
    package internal(set) var gone = 0
    /// Those under whose `_id` another document is.
    package internal(set) var others = 0
    /// Whether the document of the last checkpoint is there; `nil` where the job has none.
    package internal(set) var hasLast: Bool?

    /// Those of documents that are there, of which nothing tells whether they are the ones.
    package var untold: Int { changes - same - gone - others }

    /// Whether most documents that can be told apart are missing or others: users delete some, and never most of them at
    /// once.
    package var isAnother: Bool { (gone + others) * 2 > changes - untold }
}

extension RebindPlan {
    /// Holds the job's journal against the collection that is there.
    mutating func compare(_ store: borrowing StateStore) throws {
        let collection = store.client.client.collection(namespace)
        var position: JournalPosition?
        while let part = try store.journal.part(upTo: position, orAt: false) {
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
            // Without evidence there is what the job wrote, or found.
            let group = part.groups[entry.group]
            let now = try group.fields(of: document)
            if JournalDigest(of: now) == group.after || (!now.isEmpty && now == group.before) { same += 1 }
        }
    }

    private func found(
        _ ids: [BSONValue], in collection: MongoCollection, _ projection: BSONDocument
    ) throws -> [IDKey: BSONDocument] {
        try IDReader(
            collection: collection,
            options: ["projection": .object(projection), "hint": ["_id": 1], "comment": "shipshape rebind"]
        ).documents(ids)
    }
}

/// The collection that the record of a started job names.
struct RecordedCollection {
    /// The collection of the job's file; `nil` when the operator gave the job's name alone.
    var named: Namespace?
    /// The database that holds the state of jobs.
    let stateDatabase: String
    /// The ledger that `--ledger` names.
    var ledger: Namespace?

    /// The collection, where a command may write it and the job's file names the same one.
    /// - Throws: ``RunError``.
    func namespace(of record: BSONDocument, _ job: String) throws(RunError) -> Namespace {
        guard let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw RunError(.checkpointUnreadable, "the record of job \"\(job)\" names no collection")
        }
        if let named, named != namespace {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" was started on \(namespace), and its file names \(named): where \(namespace) is meant, "
                    + "give the job's name in place of its file")
        }
        try namespace.check(stateDatabase: stateDatabase, ledger: ledger)
        return namespace
    }
}
