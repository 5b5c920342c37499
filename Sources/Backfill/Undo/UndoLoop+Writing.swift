import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo

extension UpdateStatement {
    /// About what it takes in a command.
    fileprivate var byteCount: Int { BSONDocument([("q", .object(filter)), ("u", update)]).bytes.count }
}

extension UndoLoop {
    /// What became of a write.
    struct Written {
        /// Documents that were changed, as far as it is known.
        var modified = 0
        /// Documents that the server refuses as they were, with its code.
        var refused: [(id: BSONValue, code: Int)] = []
    }

    /// The most bytes of a statement, so that a command that holds nothing else has less than 16 MiB.
    private static let largest = (16 << 20) - (16 << 10)

    /// Writes documents as they were, where they are still as they were read; `nil` when it took too long.
    /// - Parameter isGrouped: whether those that are restored alike share a statement; one that is refused then stops them
    ///   all.
    mutating func write(_ documents: [Restoring], grouped isGrouped: Bool) throws -> Written? {
        try kernel.keepLease()
        guard let lease = kernel.leaseIfAny else { return Written() }
        var written = Written()
        var groups: [[Restoring]] = []
        var statements: [UpdateStatement] = []
        for group in isGrouped ? Self.groups(documents) : documents.map({ [$0] }) {
            var isPlaced = group.first?.group.places != nil
            guard var one = try Restoring.statement(group, under: lease, isPlaced: isPlaced) else { continue }
            if isPlaced, one.byteCount >= Self.largest,
                let other = try Restoring.statement(group, under: lease, isPlaced: false)
            {
                // The document stands in the command twice; its fields alone fit.
                (one, isPlaced) = (other, false)
                tally.moved += 1
            }
            // What is compared and what is put back travel together: where both are large, no command holds them.
            guard one.byteCount < Self.largest else {
                if let only = group.first, group.count == 1 {
                    written.refused.append((only.id, MongoError.Code.documentTooLarge.rawValue))
                }
                continue
            }
            groups.append(group)
            statements.append(one)
        }
        var sent = 0
        let sizes = statements.map { BSONValue.array(of: [.object($0.filter), $0.update]) }
        for slice in sizes.commandSlices(count: 1_000) {
            let part = Array(statements[sent..<sent + slice.count])
            FaultInjection.reached(.beforeWrite)
            let reply: WriteReply
            do {
                reply = try send(part, under: lease)
            } catch let error as MongoError where error.isTimeLimit && batch > 1 {
                return nil
            }
            written.modified += reply.modified
            for error in reply.writeErrors {
                if error.code == .collectionUUIDMismatch { throw replaced }
                if error.code == .maxTimeMSExpired { return nil }
                if let only = groups[sent + error.index].first, groups[sent + error.index].count == 1 {
                    written.refused.append((only.id, error.code.rawValue))
                }
            }
            sent += slice.count
        }
        // A write that came after the fence changed nothing.
        if !kernel.isFenceCertain { try kernel.renew() }
        return written
    }

    private mutating func send(_ statements: [UpdateStatement], under lease: Lease) throws -> WriteReply {
        let limit = lease.terms.writeLimit.milliseconds
        var options: BSONDocument = [
            "maxTimeMS": .long(limit), "writeConcern": ["w": "majority", "wtimeout": .long(limit)],
            "comment": .string("shipshape undo \(subject.name)"),
        ]
        if let uuid = subject.collectionUUID { options = options.appending("collectionUUID", uuid) }
        // Each statement compares before it sets, so it can be sent again.
        let canShrink = batch > 1
        let retry = kernel.retry.refusing { canShrink && ($0 as? MongoError)?.isTimeLimit == true }
        return try retry.run {
            do throws(MongoError) {
                return try collection.update(
                    statements, isOrdered: false, collectsWriteErrors: true, options: options)
            } catch {
                kernel.doubt(error)
                throw error
            }
        }
    }

    /// What is to be said of what was written.
    var notes: [String] {
        tally.moved == 0
            ? []
            : [
                "\(tally.moved) \(tally.moved == 1 ? "document is" : "documents are") too large for a command that puts a "
                    + "field back at its place: the fields stand at the end"
            ]
    }

    private var replaced: BackfillError {
        BackfillError(
            .bindingChanged,
            "the undo of job \"\(subject.name)\" cannot go on: \(subject.namespace) was dropped and created anew while it ran"
        )
    }

    /// Documents that are restored alike; one whose place among its fields matters stands alone, and so does one that has to
    /// be as it was.
    private static func groups(_ documents: [Restoring]) -> [[Restoring]] {
        var alike: [Int: [Restoring]] = [:]
        var alone: [[Restoring]] = []
        for document in documents {
            if document.group.places == nil, !document.isWatched {
                alike[document.groupIndex, default: []].append(document)
            } else {
                alone.append([document])
            }
        }
        return alike.sorted { $0.key < $1.key }.map(\.value) + alone
    }
}

/// The budget of unsynced documents: documents that fit the active schema only as the job left them.
extension UndoLoop {
    /// Judges what is to be restored, cuts it where there is no room left, and records the harm of the rest.
    /// - Returns: the first document that there is no room for, and the sum; `nil` when there is room for all.
    mutating func reserve(_ due: inout [Restoring]) throws -> (id: BSONValue, headroom: Headroom)? {
        guard let budget, let active = budget.job.active, !due.isEmpty else { return nil }
        var harmful: [BSONValue] = []
        for (index, document) in due.enumerated() {
            let after = try document.restored()
            guard try active.check(after.view) == .certain else { continue }
            // One that fails already takes no room, unless it is repaired before it is written.
            if try active.check(document.current.view) == .certain {
                due[index].isWatched = true
            } else {
                harmful.append(document.id)
            }
        }
        tally.harm += harmful.count
        guard !kernel.isDry, !harmful.isEmpty else { return nil }
        let (retry, namespace) = (kernel.retry, subject.namespace)
        let recorded = try retry.run { try kernel.store.reservations.pending(among: harmful, of: namespace) }
        try retry.run { try kernel.store.reservations.removeRepaired(since: budget.grace(kernel.store), of: namespace) }
        let headroom = try retry.run { try budget.exactHeadroom(kernel.store) }
        var new = harmful.filter { !recorded.contains($0) }
        var cut: (id: BSONValue, headroom: Headroom)?
        if new.count > headroom.documents {
            let first = new[headroom.documents]
            cut = (first, headroom)
            due = Array(due.prefix { $0.id != first })
            tally.harm -= harmful.count - (harmful.firstIndex(of: first) ?? harmful.count)
            new = Array(new.prefix(headroom.documents))
        }
        guard !new.isEmpty else { return cut }
        // They sync: what the ledger shows of them it has not noticed to be repaired.
        let shown = try retry.run { try budget.ledger.holding(new, of: namespace) }
        let stale = new.filter(shown.contains)
        try retry.run { try kernel.store.reservations.add(new, stale: stale, of: namespace) }
        FaultInjection.reached(.afterHarm)
        let now = try retry.run { try budget.headroom(kernel.store) }
        guard now.isExceeded else { return cut }
        // Another job recorded its own meanwhile.
        try retry.run { try kernel.store.reservations.remove(new, of: namespace) }
        due = []
        return (new[0], now)
    }
}
