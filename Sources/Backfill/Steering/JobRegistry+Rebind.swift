import BSON
import JobState
import Mongo

/// Binding a job to its collection anew, where that has another UUID since.
extension JobRegistry {
    /// Holds the collection that is there against the job's journal; nothing is written.
    /// - Returns: `nil` when the job is bound to that collection.
    /// - Throws: ``BackfillError`` when no such job was begun, a runner holds it, or there is no such collection;
    ///   ``MongoError``.
    package func planRebinding(of job: String) throws -> RebindPlan? {
        let store = try store(job)
        guard let record = try store.jobs.record() else { throw try unknown(job) }
        try store.checkVersion(of: record)
        guard let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw BackfillError(.checkpointUnreadable, "the record of job \"\(job)\" names no collection")
        }
        let (was, now) = (record["uuid"] ?? .null, try uuid(of: namespace, store))
        guard was != now else { return nil }
        guard try store.ranges.otherHolder() == nil else { throw Self.held(job) }
        var plan = RebindPlan(job: job, namespace: namespace, was: was, now: now)
        let collection = store.client.client.collection(namespace)
        var position: JournalPosition?
        while let part = try store.journal.part(upTo: position, orAt: false) {
            for entries in part.entries.slices(count: 1_000, bytes: 4 << 20, size: { $0.id.byteCount }) {
                try compare(entries, of: part, in: collection, &plan)
            }
            position = part.position
        }
        if plan.changes == 0, let last = Progress(try store.ranges.document() ?? [:]).last {
            plan.hasLast = try !found([last], in: collection, [:]).isEmpty
        }
        return plan
    }

    /// Binds the job to the collection that the plan was made for, under the job's lease.
    /// - Throws: ``BackfillError`` of kind `leaseHeld` when a runner holds it, of kind `bindingChanged` when the collection
    ///   is another one, or something changed since; ``MongoError``.
    package func rebind(_ plan: RebindPlan) throws {
        guard !plan.isAnother else {
            throw BackfillError(
                .bindingChanged,
                "job \"\(plan.job)\" stays bound to the collection that it was started on: most documents that its journal "
                    + "names are not in the \(plan.namespace) that is there, or are others; give the job a new name")
        }
        let store = try store(plan.job)
        try withLease(of: plan.job, store, for: .rebinding, orElse: "bind it anew when that is done") { _ in
            guard try store.jobs.record()?["uuid"] == plan.was, try uuid(of: plan.namespace, store) == plan.now else {
                throw BackfillError(
                    .bindingChanged,
                    "the job or \(plan.namespace) changed meanwhile, and nothing was done; run it again")
            }
            try store.jobs.steer(
                ["uuid": ["$literal": plan.now]], what: "bound to \(plan.namespace) anew, which has another UUID",
                by: person)
        }
    }

    private static func held(_ job: String) -> BackfillError {
        BackfillError(.leaseHeld, "job \"\(job)\" is held by a runner: bind it anew when that is done")
    }

    private func uuid(of namespace: Namespace, _ store: borrowing StateStore) throws -> BSONValue {
        try Target.find(namespace, on: store.client.client).uuid ?? .null
    }

    private func compare(
        _ entries: [JournalPart.Entry], of part: JournalPart, in collection: MongoCollection, _ plan: inout RebindPlan
    ) throws {
        let fields = ["_id"] + part.touched + part.evidence.names
        let documents = try found(entries.map(\.id), in: collection, BSONDocument(fields.map { ($0, 1) }))
        plan.changes += entries.count
        for entry in entries {
            guard let document = documents[entry.id] else {
                plan.gone += 1
                continue
            }
            if let evidence = entry.evidence, evidence.contains(where: { $0 != 0 }) {
                if try part.evidence.isReplaced(document, since: evidence) { plan.others += 1 } else { plan.same += 1 }
                continue
            }
            // Without evidence there is what the job wrote, or found.
            let group = part.groups[entry.group]
            let now = try group.fields(of: document)
            if JournalDigest(of: now) == group.after || (!now.isEmpty && now == group.before) { plan.same += 1 }
        }
    }

    private func found(
        _ ids: [BSONValue], in collection: MongoCollection, _ projection: BSONDocument
    ) throws(MongoError) -> [BSONValue: BSONDocument] {
        var cursor = collection.find(
            ["_id": ["$in": .array(of: ids)]],
            options: ["projection": .object(projection), "hint": ["_id": 1], "comment": "shipshape rebind"])
        var documents: [BSONValue: BSONDocument] = [:]
        while let document = try cursor.nextDocument() {
            if let id = document["_id"] { documents[id] = document }
        }
        return documents
    }
}
