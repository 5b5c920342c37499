package import BSON
import JobState
import Mongo
import Scanning
import Steps

/// The comparison of a job's journal with its collection, whose UUID has changed since the job was started.
package struct RebindPlan: Sendable {
    /// The job's name.
    package let job: String
    /// The collection of the job.
    package let namespace: Namespace
    /// The UUID of the collection to which the job is bound.
    package let was: BSONValue
    /// The UUID of the collection that exists now under the job's namespace.
    package let now: BSONValue
    /// The number of changes in the job's journal.
    package internal(set) var changes = 0
    /// How many of ``changes`` belong to documents that exist and are the same documents that the job changed.
    package internal(set) var same = 0
    /// How many of ``changes`` belong to documents that do not exist.
    package internal(set) var gone = 0
    /// How many of ``changes`` belong to an `_id` that another document has now.
    package internal(set) var others = 0
    /// Whether the last document of the last checkpoint exists; `nil` if there is no checkpoint, or if the journal has
    /// changes.
    package internal(set) var hasLast: Bool?

    /// How many of ``changes`` belong to existing documents that may or may not be the ones that the job changed.
    package var unidentified: Int { changes - same - gone - others }

    /// Whether the collection is probably not the one that the job changed: ``gone`` and ``others`` together exceed
    /// ``same``.
    ///
    /// Users delete some documents, but not most of them at once.
    package var isAnother: Bool { (gone + others) * 2 > changes - unidentified }
}

extension RebindPlan {
    /// Compares the job's journal with the existing collection.
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
            // Without evidence of its identity, a document counts as the one that the job changed if its fields are as
            // the job wrote them, or as the job found them.
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

/// The collection of a started job, as the job's record names it.
struct RecordedCollection {
    /// The collection that the job's file names; `nil` if the operator gave only the job's name.
    var named: Namespace?
    /// The name of the database that holds the state of jobs.
    let stateDatabase: String
    /// The ledger that `--ledger` names; `nil` if it names none.
    var ledger: Namespace?

    /// Returns the collection that a job's record names.
    /// - Throws: ``RunError`` when the job's file names another collection, or when the record names none, or one that
    ///   no job may write to, such as the ledger.
    func namespace(of record: BSONDocument, _ job: String) throws(RunError) -> Namespace {
        guard let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw RunError(.checkpointUnreadable, "the record of job \"\(job)\" names no collection")
        }
        if let named, named != namespace {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" was started on \(namespace), but its file names \(named): if you mean \(namespace), "
                    + "give the job's name instead of its file")
        }
        try namespace.check(stateDatabase: stateDatabase, ledger: ledger)
        return namespace
    }
}
