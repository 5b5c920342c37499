import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The removal of the documents that the job inserted in other collections.
///
/// A document stays if another client has changed it, if a document of the job's collection may link to it, if another
/// job may rely on it, or if the server refuses to remove it. Links from other collections are not searched for.
extension UndoLoop {
    /// The most documents that are removed with one command.
    private static let maximumChildren = 200

    /// Removes the documents that the job inserted in other collections, except the documents that have to stay.
    ///
    /// The job numbered its attempts to write a chunk. The documents that the newest attempt inserted are removed
    /// first.
    /// - Parameter start: the attempt that an earlier run of the undo processed last, so that this run starts with the
    ///   attempt before it; `nil` starts with the newest attempt.
    mutating func removeChildren(from start: Int64?) throws -> RunStop? {
        guard subject.mayHaveChildren else { return nil }
        var sequence = start
        if start == nil, !kernel.isDry { try kernel.retrying { try kernel.store.skipped.dropOthers() } }
        var linked: Set<IDKey>?
        while let part = try kernel.retrying({ try kernel.store.journal.created(before: sequence) }) {
            if linked == nil { linked = try linksOfSkipped().union(linksThatStayed()) }
            var rest = part.children[...]
            while !rest.isEmpty {
                if let stop = try kernel.waitForThrottle() { return stop }
                try remove(Array(rest.prefix(Self.maximumChildren)), keeping: linked ?? [])
                rest = rest.dropFirst(Self.maximumChildren)
            }
            sequence = part.sequence
            guard !kernel.isDry else { continue }
            FaultInjection.reached(.afterRestore)
            let removed = earlierRemoved + children.removed
            try kernel.renew(setting: RangeChange.childrenRemoved(to: part.sequence, count: removed))
        }
        return nil
    }

    /// Returns the counts of the documents that the job inserted in other collections; `nil` if all counts are 0.
    /// - Parameter left: the documents that no undo of the job has removed; in a dry run, the documents that this undo
    ///   would not remove.
    func reportOfChildren(left: ChildTally) -> UndoReport.Children? {
        let report = UndoReport.Children(
            removed: children.removed, earlier: earlierRemoved, gone: children.gone,
            left: left.left)
        return report == UndoReport.Children() ? nil : report
    }

    /// Returns all values that may be links, from the fields that the job writes in the documents that the undo skips.
    ///
    /// The skipped documents keep these links, so the linked documents must stay.
    private func linksOfSkipped() throws -> Set<IDKey> {
        let ids = Array(memory.left)
        let fields = BSONDocument([("_id", 0)] + subject.touched.map { ($0, 1) })
        return try kernel.retrying {
            var links: Set<IDKey> = []
            let documents = IDReader(
                collection: collection,
                options: ["projection": .object(fields), "hint": ["_id": 1], "comment": "shipshape undo"])
            try documents.read(ids) { BSONDocument(copying: $0).collectLinks(into: &links) }
            return links
        }
    }

    /// Returns the links that are still in the fields to which the job wrote links; empty in a dry run.
    ///
    /// If this version of the program cannot read the job's steps, all fields that the job writes count as such fields.
    ///
    /// The caller must undo the job's changes first, because the fields hold the job's own links until then.
    private func linksThatStayed() throws -> Set<IDKey> {
        guard !kernel.isDry else { return [] }
        let fields = subject.job?.steps.compactMap(\.step.kind.linksToCreated) ?? subject.written
        var links: Set<IDKey> = []
        for field in fields {
            links.formUnion(try kernel.retrying { () throws -> Set<IDKey> in try self.links(at: field) })
        }
        return links
    }

    private func links(at field: FieldPath) throws -> Set<IDKey> {
        let value = Expression.field(field)
        let holdsLink = Expression.inSomeElement(
            of: field.containers, .all([!value.isMissingOrNull, !value.hasType("object")]))
        let shown: [(String, BSONValue)] = [("_id", 0), (field.components[0], 1)]
        let pipeline: [BSONDocument] = [
            ["$match": .object(holdsLink.filter)], ["$project": .object(BSONDocument(shown))],
        ]
        var cursor = collection.aggregate(
            pipeline,
            options: ["comment": "shipshape undo", "readConcern": ["level": "majority"]])
        var links: Set<IDKey> = []
        while let document = try cursor.nextDocument() {
            links.formUnion(try document.values(at: field).flatMap(\.links).map(IDKey.init))
        }
        return links
    }

    private mutating func remove(_ all: [CreatedChild], keeping linked: Set<IDKey>) throws {
        for namespace in Set(all.map(\.namespace)) {
            let options = runner.options
            try namespace.check(stateDatabase: options.stateDatabase, ledger: options.ledger.location.namespace)
            let made = Dictionary(all.filter { $0.namespace == namespace }.map { ($0.id, $0) }) { $1 }
            if try kernel.retrying({ try kernel.store.jobs.isNamedElsewhere(namespace) }) {
                try leave(Array(made.keys), of: namespace, because: .shared)
                continue
            }
            var due = try compare(made, in: namespace, keeping: linked, isFirst: true)
            let count = due.count
            guard !kernel.isDry else {
                children.removed += count
                continue
            }
            for _ in 0..<4 where !due.isEmpty {
                try send(due, to: namespace)
                // A document still exists, for example, if another client changed it after it was read, if the server
                // refused to remove it, or if the lease had ended. The documents are read again to find the reason.
                let ids = Set(due.compactMap { $0["_id"] })
                due = try compare(made.filter { ids.contains($0.key) }, in: namespace, keeping: linked, isFirst: false)
            }
            let refused = due.compactMap { $0["_id"] }
            try leave(refused, of: namespace, because: .refused)
            children.removed += count - refused.count - children.changedByOthers
            children.changedByOthers = 0
        }
    }

    /// Returns the documents that no client has changed since the job inserted them, and to which no link leads.
    ///
    /// The function records as skipped all other documents that still exist.
    private mutating func compare(
        _ made: [BSONValue: CreatedChild], in namespace: Namespace, keeping linked: Set<IDKey>, isFirst: Bool
    ) throws -> [BSONDocument] {
        let collection = kernel.client.collection(namespace)
        let found = try kernel.retrying {
            let documents = IDReader(
                collection: collection, options: ["hint": ["_id": 1], "comment": "shipshape undo"])
            var found: [BSONDocument] = []
            try documents.read(Array(made.keys)) { found.append(BSONDocument(copying: $0)) }
            // With a collation, the query may also find documents with other `_id`s.
            return found.filter { $0["_id"].map { made[$0] != nil } ?? false }
        }
        if isFirst { children.gone += made.count - found.count }
        var changed: [BSONValue] = []
        var kept: [BSONValue] = []
        var due: [BSONDocument] = []
        for document in found {
            guard let id = document["_id"] else { continue }
            if JournalDigest(of: document) != made[id]?.digest {
                changed.append(id)
            } else if linked.contains(IDKey(id)) {
                kept.append(id)
            } else {
                due.append(document)
            }
        }
        if !isFirst { children.changedByOthers += changed.count }
        try leave(changed, of: namespace, because: .changed)
        try leave(kept, of: namespace, because: .linked)
        return due
    }

    private mutating func leave(
        _ ids: [BSONValue], of namespace: Namespace, because reason: UndoReport.ChildReason
    ) throws {
        guard !ids.isEmpty else { return }
        for id in ids { children.leave(id, of: namespace, because: reason) }
        guard !kernel.isDry else { return }
        try kernel.retrying { try kernel.store.skipped.add(ids, of: namespace, because: reason.rawValue) }
    }

    /// Removes the documents that are still byte for byte as they were read.
    ///
    /// Each delete has the condition that the lease has not ended.
    private mutating func send(_ documents: [BSONDocument], to namespace: Namespace) throws {
        try kernel.keepLease()
        guard let lease = kernel.leaseIfAny else { return }
        var statements: [BSONValue] = []
        for document in documents {
            guard let id = document["_id"] else { continue }
            let condition = Expression.all([lease.fence, try .isExactly(document)])
            statements.append(.object(["_id": id, "$expr": condition.bson]))
        }
        let limit = lease.terms.writeLimit.milliseconds
        let options: BSONDocument = [
            "maxTimeMS": .long(limit), "writeConcern": ["w": "majority", "wtimeout": .long(limit)],
            "comment": .string("shipshape undo \(subject.name)"),
        ]
        let collection = kernel.client.collection(namespace)
        for slice in statements.commandSlices() {
            FaultInjection.reached(.beforeWrite)
            let deletes = slice.compactMap(\.document).filter(\.fitsIntoCommand).map { filter in
                DeleteStatement(
                    filter, hint: ["_id": 1],
                    collation: filter["_id"]?.dependsOnCollation ?? true ? nil : ["locale": "simple"])
            }
            guard !deletes.isEmpty else { continue }
            _ = try kernel.retrying {
                do throws(MongoError) {
                    return try collection.delete(
                        deletes, isOrdered: false, collectsWriteErrors: true, options: options)
                } catch {
                    kernel.doubt(error)
                    throw error
                }
            }
        }
        // A delete that reaches the server after the lease has ended removes nothing. If that may have happened, the
        // lease is renewed; this fails if another runner took over the lease.
        if !kernel.isFenceCertain { try kernel.renew() }
    }
}

extension BSONDocument {
    /// Whether a command with only this document has less than 16 MiB.
    fileprivate var fitsIntoCommand: Bool { bytes.count < (16 << 20) - (16 << 10) }

    /// Adds every value of the document, at any depth, that may be a link.
    fileprivate func collectLinks(into links: inout Set<IDKey>) {
        for value in values {
            switch value {
            case .object(let inner), .array(let inner): inner.collectLinks(into: &links)
            default: if value.isLink { links.insert(IDKey(value)) }
            }
        }
    }
}
