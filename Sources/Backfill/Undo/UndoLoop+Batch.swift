import BSON
import Checking
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The undo of one batch of journal entries.
///
/// It reads the documents, compares them with the entries, checks them against the unsync budget, restores them, and
/// records the documents that it skips.
extension UndoLoop {
    enum Attempt {
        /// The first entries of the batch are finished; the number says how many.
        case done(Int)
        /// The batch has to be tried again with fewer entries, for example because it took too long, or because
        /// documents changed after they were checked against the unsync budget.
        case tooSlow
        case stopped(RunStop)
    }

    /// The result of comparing an entry of the journal with its document.
    private enum Found {
        case due(Restoring, isUncertain: Bool = false)
        case asBefore
        /// There is nothing to undo: either it is known that the job did not write the document, or this undo has
        /// already restored the fields from newer journal entries.
        case done
        case left(UndoReport.Reason)
    }

    /// Undoes the changes of a batch of entries.
    /// - Parameter next: the entries that will probably be the next batch, whose documents are read during the write.
    mutating func undo(
        _ entries: ArraySlice<JournalPart.Entry>, before next: ArraySlice<JournalPart.Entry>, of part: JournalPart
    ) throws -> Attempt {
        let open = entries.filter { memory.isOpen($0.id) }
        guard !open.isEmpty else { return .done(entries.count) }
        var due: [Restoring] = []
        var left: [(id: BSONValue, document: UndoReport.LeftDocument)] = []
        guard let found = try find(open, of: part) else { return .tooSlow }
        // With an unsync budget, the documents are judged by what was read, so each batch is read as late as possible.
        // Behind a router, each written batch is read again, so the connections are busy enough.
        if budget == nil, !kernel.client.isBehindRouter {
            reads.readAhead(next.map(\.id).filter(memory.isOpen), of: part)
        }
        for (entry, found) in found {
            switch found {
            case .due(let document, _): due.append(document)
            case .asBefore, .done: break
            case .left(let reason): left.append((entry.id, UndoReport.LeftDocument(reason: reason)))
            }
        }
        if kernel.isDry {
            let refused = try subject.target.validator?.refused(due, in: collection, kernel.retry) ?? [:]
            for document in due {
                guard let code = refused[document.id] else { continue }
                left.append((document.id, UndoReport.LeftDocument(reason: .refused, code: code)))
            }
            due.removeAll { refused[$0.id] != nil }
        }
        var count = entries.count
        var finished = found
        if let cut = try reserve(&due) {
            guard !due.isEmpty, let first = entries.firstIndex(where: { $0.id == cut.id }) else {
                return .stopped(.threshold(cut.headroom))
            }
            count = first - entries.startIndex
            let kept = Set(entries.prefix(count).map(\.id))
            left.removeAll { !kept.contains($0.id) }
            finished.removeAll { entry, _ in !kept.contains(entry.id) }
        }
        // A server before MongoDB 6.0 cannot check the collection's UUID at each command, so the undo itself checks the
        // UUID before it skips documents.
        if !left.isEmpty, !subject.target.checksUUID { try checkCollection() }
        guard !kernel.isDry else {
            for document in due { overlay?.restore(document) }
            memory.restore(due)
            tally.restored += due.count
            for (id, document) in left { leave(id, document) }
            self.count(finished, without: Set(left.map(\.id)))
            return .done(count)
        }
        guard try restore(due, of: part, leaving: &left) else { return .tooSlow }
        try record(left, restored: due.map(\.id))
        let kept = Set(left.map(\.id))
        let restored = due.filter { !kept.contains($0.id) }
        memory.restore(restored)
        try noteRepaired(restored)
        self.count(finished, without: kept)
        return .done(count)
    }

    /// Counts the documents of a finished batch that have an uncertain change, and those that needed no write.
    ///
    /// A change is uncertain if the job might not have made it. A batch that has to be tried again is not counted,
    /// because the next try finds the same documents.
    /// - Parameter left: the documents that the undo skips, for instance because the server refused to write them.
    private mutating func count(_ found: [(JournalPart.Entry, Found)], without left: Set<BSONValue>) {
        for (entry, found) in found where !left.contains(entry.id) {
            switch found {
            case .due(let document, isUncertain: true): tally.include(document.id)
            // An earlier try of this batch wrote to the document and was then cut off, so the document counts as
            // restored.
            case .asBefore where memory.wasSent(entry.id): tally.restored += 1
            case .asBefore: tally.asBefore += 1
            case .due, .done, .left: break
            }
        }
    }

    /// Compares each entry with its document; `nil` if the documents are too large to be held in memory together.
    private mutating func find(
        _ entries: [JournalPart.Entry], of part: JournalPart
    ) throws -> [(JournalPart.Entry, Found)]? {
        let ids = entries.map(\.id)
        guard let current = try kernel.retrying({ try reads.read(ids, of: part, on: kernel.client) }) else {
            return nil
        }
        return try entries.map { entry in
            let stored = current[entry.id]
            let document = try stored.flatMap { try overlay?.document(entry.id, $0) } ?? stored
            return (entry, try compare(at: entry, of: part, as: document))
        }
    }

    private func compare(at entry: JournalPart.Entry, of part: JournalPart, as document: BSONDocument?) throws -> Found
    {
        if memory.isMissed(entry.id) { return .done }
        let isKnown = memory.isWritten(entry.id)
        guard let document else { return .left(.gone) }
        if SyncLock.isHeld(in: document) { return .left(.locked) }
        let group = part.groups[entry.group]
        let fields = try group.fields(of: document)
        if fields == group.before { return .asBefore }
        guard JournalDigest(of: fields) == group.after else {
            // The fields hold neither the values from before the job's change nor the values that the job wrote. Either
            // this undo already restored them from newer journal entries, or another client changed them.
            return try memory.isRestored(fields, of: entry.id, in: group) ? .done : .left(.changed)
        }
        let isReplaced = try entry.evidence.map { try part.evidence.isReplaced(document, since: $0) } ?? false
        guard includesUncertain || (isKnown && !isReplaced) else { return .left(.uncertain) }
        let restoring = Restoring(
            id: entry.id, group: group, groupIndex: entry.group, evidence: entry.evidence, current: document)
        return .due(restoring, isUncertain: !isKnown || isReplaced)
    }

    /// Restores documents, and adds to `left` the documents that cannot be restored.
    /// - Returns: `false` if the batch is not finished, and has to be tried again.
    private mutating func restore(
        _ all: [Restoring], of part: JournalPart,
        leaving left: inout [(id: BSONValue, document: UndoReport.LeftDocument)]
    ) throws -> Bool {
        var due = all
        var (isGrouped, isDone) = (true, false)
        for _ in 0..<4 where !due.isEmpty {
            memory.send(due.map(\.id))
            let outcome = try write(due, grouped: isGrouped)
            guard let outcome else { return false }
            for (id, code) in outcome.refused {
                left.append((id, UndoReport.LeftDocument(reason: .refused, code: code)))
            }
            // The number of written documents that a router reports is not reliable: if a document moves from one shard
            // to another during the write, the router may count it twice or not at all.
            let isShort = outcome.modified < due.count
            guard isShort || kernel.client.isBehindRouter else {
                isDone = true
                break
            }
            // The documents are read again, because some may have changed after the first read, the server may have
            // refused some, or a router may have counted wrongly. If the first attempt wrote too few documents although
            // the server refused none, and there is an unsync budget, the whole batch starts again, so that all its
            // documents are checked against the budget again.
            if budget != nil, isShort, outcome.refused.isEmpty, isGrouped { return false }
            isGrouped = false
            let refused = Set(outcome.refused.map(\.id))
            due.removeAll { refused.contains($0.id) }
            let entries = due.map { JournalPart.Entry(id: $0.id, group: $0.groupIndex, evidence: $0.evidence) }
            let judged = Dictionary(due.map { ($0.id, $0) }) { $1 }
            due = []
            var fresh: [Restoring] = []
            guard let found = try find(entries, of: part) else { return false }
            for (entry, found) in found {
                switch found {
                case .due(let document, _):
                    if let same = judged[document.id], same.current == document.current {
                        due.append(same)
                    } else {
                        fresh.append(document)
                    }
                case .asBefore, .done: break
                case .left(let reason): left.append((entry.id, UndoReport.LeftDocument(reason: reason)))
                }
            }
            // The documents in `fresh` changed after they were checked against the unsync budget. If a user repaired
            // such a document, the restore would make it unsyncable, so the undo first reserves room for it in the
            // budget.
            guard try reserve(&fresh) == nil else { return false }
            due += fresh
            if due.isEmpty { break }
            guard !runner.stop.isRaised else { return false }
        }
        // The documents that remain in `due` were not written in four attempts. One possible reason is that the server
        // finds a value different from the value that was read, although no client changed it.
        if !isDone { left += due.map { ($0.id, UndoReport.LeftDocument(reason: .refused)) } }
        return true
    }

    private mutating func leave(_ id: BSONValue, _ document: UndoReport.LeftDocument) {
        if memory.leave(id) { tally.leave(id, document) }
    }

    private mutating func record(
        _ left: [(id: BSONValue, document: UndoReport.LeftDocument)], restored: [BSONValue]
    ) throws {
        let leftNow = Set(left.map(\.id))
        tally.restored += restored.count { !leftNow.contains($0) }
        for (document, members) in Dictionary(grouping: left, by: \.document) {
            try kernel.retrying {
                try kernel.store.skipped.add(members.map(\.id), because: document.reason, code: document.code)
            }
        }
        for (id, document) in left { leave(id, document) }
        if memory.isRetry {
            let done = restored.filter { !leftNow.contains($0) }
            try kernel.retrying { try kernel.store.skipped.remove(done) }
        }
    }
}

extension UndoLoop {
    /// The outcome of a write that restores documents.
    struct Written {
        /// How many documents the write changed, as far as the replies show it.
        var modified = 0
        /// The documents that the server refuses to restore, each with the server's error code.
        var refused: [(id: BSONValue, code: Int)] = []
    }

    /// Restores those documents that are still as they were read; `nil` if the write took too long.
    /// - Parameter isGrouped: whether documents that are restored in the same way share a statement. If the server
    ///   refuses one of these documents, it ends the whole statement.
    mutating func write(_ documents: [Restoring], grouped isGrouped: Bool) throws -> Written? {
        try kernel.keepLease()
        guard let lease = kernel.leaseIfAny else { return Written() }
        let concurrency = concurrency
        let statements = try RestoringStatements(documents, under: lease, grouped: isGrouped, for: concurrency)
        var written = Written()
        written.refused = statements.tooLarge.map { ($0, MongoError.Code.documentTooLarge.rawValue) }
        tally.move(statements.moved)
        var sent = 0
        for slice in statements.commands {
            let parts = slice.parts(concurrency, least: 1)
            FaultInjection.reached(.beforeWrite)
            let replies: [WriteReply]
            do {
                replies = try send(parts, under: lease)
            } catch let error as MongoError where error.isTimeLimit && batch > 1 {
                return nil
            }
            for (part, reply) in zip(parts, replies) {
                written.modified += reply.modified
                for error in reply.writeErrors {
                    if error.code == .collectionUUIDMismatch { try checkCollection() }
                    if error.code == .maxTimeMSExpired { return nil }
                    guard error.isOfOneDocument else { throw error.asWhole }
                    if let only = statements.onlyDocument(of: sent + error.index) {
                        written.refused.append((only, error.code.rawValue))
                    }
                }
                sent += part.count
            }
        }
        // A write that reaches the server after the lease has ended changes nothing. If that may have happened, the
        // lease is renewed; this fails if another runner took over the lease.
        if !kernel.isFenceCertain { try kernel.renew() }
        return written
    }

    /// The number of connections on which the undo writes a batch: the concurrency of the job's limits.
    ///
    /// One connection is used if the undo checks documents against the unsync budget, or while the server refuses
    /// commands because of its load.
    private var concurrency: Int {
        budget == nil && !kernel.pool.overload.isRecent ? kernel.throttler?.limits.concurrency ?? 1 : 1
    }

    /// Sends commands concurrently, and returns the server's reply to each.
    private mutating func send(_ commands: [[UpdateStatement]], under lease: Lease) throws -> [WriteReply] {
        let limit = lease.terms.writeLimit.milliseconds
        var options: BSONDocument = [
            "maxTimeMS": .long(limit), "writeConcern": ["w": "majority", "wtimeout": .long(limit)],
            "comment": .string("shipshape undo \(subject.name)"),
        ]
        if let uuid = subject.collectionUUID { options = options.appending("collectionUUID", uuid) }
        // Each statement compares the fields before it sets them, so a command can be sent again.
        let canShrink = batch > 1
        let (namespace, pool, settings) = (subject.namespace, kernel.pool, options)
        return try kernel.retrying(refusing: { canShrink && ($0 as? MongoError)?.isTimeLimit == true }) {
            let outcomes = pool.sideBySide(commands, first: kernel.client) { statements, client throws(MongoError) in
                try client.collection(namespace).update(
                    statements, isOrdered: false, collectsWriteErrors: true, options: settings)
            }
            for case .failure(let error) in outcomes { kernel.doubt(error) }
            return try outcomes.map { try $0.get() }
        }
    }

    /// Notes on documents that the validator refuses, and on fields that were restored at the end of their documents.
    var notes: [String] {
        var notes = subject.target.validator?.notes(tally, of: subject.namespace) ?? []
        if tally.moved > 0 {
            notes.append(
                "\(tally.moved.grouped) \(tally.moved == 1 ? "document is" : "documents are") too large for a "
                    + "command that restores a field at its old place: the restored fields are at the end")
        }
        return notes
    }
}

/// The unsync budget of an undo. It counts the documents that sync now, as the job left them, but would not sync once
/// they are restored.
extension UndoLoop {
    /// Checks the documents to be restored, and reserves room in the unsync budget for those that become unsyncable.
    ///
    /// If there is not enough room, the first document without room and all documents after it are removed from `due`.
    /// - Returns: the first document without room, and the room that is left in the unsync budget; `nil` when there is
    ///   room for all, in a dry run, or if there is no budget.
    mutating func reserve(_ due: inout [Restoring]) throws -> (id: BSONValue, headroom: Headroom)? {
        guard let budget, let active = budget.job.active, !due.isEmpty else { return nil }
        var unsyncable: [BSONValue] = []
        for (index, document) in due.enumerated() {
            let after = try document.restored()
            guard try active.check(after.view) == .certain else { continue }
            // A document that already fails under the active schema needs no room in the budget. If a user repaired it
            // before the write, the restore would make it unsyncable without a reservation. The undo therefore writes
            // the document only if it is still as it was read.
            if try active.check(document.current.view) == .certain {
                due[index].isWatched = true
            } else {
                unsyncable.append(document.id)
            }
        }
        guard !kernel.isDry, !unsyncable.isEmpty else {
            tally.makeUnsyncable(unsyncable)
            return nil
        }
        let namespace = subject.namespace
        let recorded = try kernel.retrying { try kernel.store.reservations.pending(among: unsyncable, of: namespace) }
        try kernel.retrying {
            try kernel.store.reservations.removeRepaired(since: budget.grace(kernel.store), of: namespace)
        }
        let headroom = try kernel.retrying { try budget.limit.exactHeadroom(kernel.store) }
        var new = unsyncable.filter { !recorded.contains($0) }
        var cut: (id: BSONValue, headroom: Headroom)?
        if new.count > headroom.documents {
            let first = new[headroom.documents]
            cut = (first, headroom)
            due = Array(due.prefix { $0.id != first })
            unsyncable = Array(unsyncable.prefix { $0 != first })
            new = Array(new.prefix(headroom.documents))
        }
        guard !new.isEmpty else {
            tally.makeUnsyncable(unsyncable)
            return cut
        }
        // The documents in `new` sync now. If the ledger of unsynced documents lists one of them, its entry is
        // outdated.
        let shown = try kernel.retrying { try budget.ledger.listed(new, of: namespace) }
        let now = try kernel.retrying {
            try budget.limit.record(new, new: new, stale: new.filter(shown.contains), of: namespace, kernel.store)
        }
        guard now.isExceeded else {
            tally.makeUnsyncable(unsyncable)
            return cut
        }
        // The undo read the unsync budget, and then another job, for example, took the room that was left in the
        // budget. The undo therefore restores no document of the batch.
        due = []
        return (new[0], now)
    }
}
