import BSON
import Checking
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The undo of one batch of journal entries, which is one transaction.
extension UndoLoop {
    enum Attempt {
        /// The first entries of the batch are finished; the number says how many.
        case done(Int)
        /// Nothing was written, and the batch has to be tried again with this number of entries, for example because
        /// another client wrote one of the documents.
        case again(Int)
        /// An election undid earlier batches, so the undo begins again with the newest entry.
        case fallenBack
        case stopped(RunStop)
    }

    /// The result of comparing an entry of the journal with its document.
    private enum Found {
        /// The entry is undone, except for its ``Restoring/rest``.
        case due(Restoring)
        case asBefore
        /// There is nothing to undo: this undo has already restored the fields from newer journal entries.
        case done
        case left(UndoReport.LeftDocument)
    }

    /// The plan of a batch: the entries that it finishes, and the documents that it restores or skips.
    struct Plan {
        /// The entries of the batch that it finishes, as indexes in the journal document.
        var finished: [Int] = []
        var due: [Restoring] = []
        var left: [(id: BSONValue, document: UndoReport.LeftDocument)] = []
        /// The entries that need no write, as indexes in the journal document.
        var needless: [Int] = []
        var asBefore = 0
        /// The documents that become unsyncable.
        var unsyncable: [BSONValue] = []
        var moved: [BSONValue] = []
        /// The room in the unsync budget, if it is too small for all documents.
        var headroom: Headroom?
        /// Whether the documents are too large to be held in memory together.
        var isTooLarge = false

        /// The number of entries that are undone as a whole.
        var restored: Int { due.count { $0.rest == nil } }
    }

    /// Undoes the changes of a batch of entries.
    /// - Parameter indexes: the entries, as indexes in the journal document.
    mutating func undo(_ indexes: [Int], of part: JournalPart) throws -> Attempt {
        var plan = Plan()
        guard !kernel.isDry else {
            plan = try planned(indexes, of: part, in: collection, isOutside: true)
            return try preview(plan, of: indexes)
        }
        let isFirst = indexes.count == 1 && memory.conflicts > Self.unguarded
        if isFirst {
            // If other clients write the document all the time, the transaction begins with the write.
            plan = try planned(indexes, of: part, in: collection, isOutside: true)
        }
        let guarded = plan
        let (isGrouped, memory) = (memory.refused.isEmpty, memory)
        let outcome: FencedTransaction.Outcome<Void>
        do {
            outcome = try kernel.transaction(halves: indexes.count > 1) { transaction in
                let collection = try transaction.collection(subject.namespace)
                plan = isFirst ? guarded : try planned(indexes, of: part, in: collection)
                guard !plan.isTooLarge, !(plan.due.isEmpty && plan.needless.isEmpty) else { return }
                let statements = try RestoringStatements(plan.due, grouped: isGrouped, guarded: isFirst)
                for id in statements.tooLarge {
                    plan.left.append(
                        (id, UndoReport.LeftDocument(reason: .refused, code: MongoError.Code.documentTooLarge.rawValue))
                    )
                }
                plan.due.removeAll { statements.tooLarge.contains($0.id) }
                plan.moved = statements.moved
                if isFirst { guard try restore(statements, in: transaction) == 1 else { throw Missed() } }
                let restored = earlier + tally.restored + plan.restored
                try transaction.fence(setting: RangeChange.undone(restored: restored))
                let journal = try transaction.collection(
                    Namespace(database: kernel.store.client.database, collection: JournalStore.collection))
                var after = memory
                after.finish(plan.due, needless: plan.needless)
                let rest = part.rest(without: after.done, leaving: after.rests)
                try journal.update([kernel.store.journal.replacing(part.position, by: rest)])
                if !isFirst { try restore(statements, in: transaction) }
            }
        } catch is Missed {
            return conflict(plan, indexes)
        } catch let error as MongoError where error.isTimeLimit && indexes.count > 1 {
            return .again(indexes.count / 2)
        }
        switch outcome {
        case .committed, .abandoned: return try finish(plan, of: indexes)
        case .refused(let statement, let error): return try refuse(plan, at: statement, isGrouped, error, of: indexes)
        case .conflict: return conflict(plan, indexes)
        case .fallenBack:
            if let record = try kernel.takeFallenBack() { resume(record) }
            return .fallenBack
        }
    }

    /// The error that a guarded write found its document changed.
    private struct Missed: Error {}

    /// The number of conflicts after which a batch of one document begins with its write.
    private static let unguarded = 2
    /// The number of conflicts after which the document of a batch is skipped.
    private static let maximumConflicts = 200

    @discardableResult
    private func restore(
        _ statements: RestoringStatements, in transaction: borrowing FencedTransaction
    ) throws -> Int {
        var options: BSONDocument = [
            "comment": .string("shipshape undo \(subject.name)"),
            "maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds),
        ]
        if let uuid = subject.target.checkedUUID { options = options.appending("collectionUUID", uuid) }
        let matched = try transaction.update(statements.all, of: subject.namespace, options: options)
        FaultInjection.reached(.afterRestore)
        return matched
    }

    // MARK: Compare

    private func planned(
        _ indexes: [Int], of part: JournalPart, in collection: MongoCollection, isOutside: Bool = false
    ) throws -> Plan {
        var plan = Plan()
        let ids = indexes.map { part.entries[$0].id }
        let current =
            try isOutside
            ? kernel.retrying { try reads.read(ids, of: part, in: collection) }
            : reads.read(ids, of: part, in: collection)
        guard let current else {
            plan.isTooLarge = true
            return plan
        }
        for index in indexes {
            let entry = part.entries[index]
            let stored = current[entry.id]
            let document = try stored.flatMap { try overlay?.document(entry.id, $0) } ?? stored
            plan.finished.append(index)
            switch try compare(index, of: part, as: document) {
            case .due(let document):
                plan.due.append(document)
                if document.rest != nil { plan.left.append((entry.id, UndoReport.LeftDocument(reason: .changed))) }
            case .asBefore:
                plan.needless.append(index)
                plan.asBefore += 1
            case .done: plan.needless.append(index)
            case .left(let document): plan.left.append((entry.id, document))
            }
        }
        try reserve(&plan, part)
        // A server before MongoDB 6.0 cannot check the collection's UUID at each command, so the undo itself checks the
        // UUID before it skips documents.
        if !plan.left.isEmpty, !subject.target.checksUUID { try checkCollection() }
        return plan
    }

    private func compare(_ index: Int, of part: JournalPart, as document: BSONDocument?) throws -> Found {
        let entry = part.entries[index]
        if let code = memory.refused[entry.id] {
            return .left(UndoReport.LeftDocument(reason: .refused, code: code))
        }
        guard let document else { return .left(UndoReport.LeftDocument(reason: .gone)) }
        if SyncLock.isHeld(in: document) { return .left(UndoReport.LeftDocument(reason: .locked)) }
        var (group, rest) = (part.groups[entry.group], JournalGroup?.none)
        switch try group.compare(document) {
        case .asBefore: return .asBefore
        case .asWritten: break
        case .changed(let others, let written):
            // Another client changed the other values between two chunks of the job, and this undo has restored the
            // client's values; otherwise, a client changed them after the last chunk.
            let changed = others.filter { !memory.isRestored($0[0], of: entry.id) }
            guard !written.isEmpty else {
                return changed.isEmpty ? .done : .left(UndoReport.LeftDocument(reason: .changed))
            }
            if !changed.isEmpty { rest = try group.part(at: changed, of: entry) }
            group = try group.part(at: written, of: entry)
        }
        if let evidence = entry.evidence, try part.evidence.isReplaced(document, since: evidence) {
            return .left(UndoReport.LeftDocument(reason: .replaced))
        }
        return .due(Restoring(id: entry.id, index: index, group: group, rest: rest, current: document))
    }

    // MARK: Outcomes

    private mutating func finish(_ plan: Plan, of indexes: [Int]) throws -> Attempt {
        guard !plan.isTooLarge else { return .again(indexes.count / 2) }
        if let headroom = plan.headroom, plan.finished.isEmpty { return .stopped(.threshold(headroom)) }
        memory.finish(plan.due, needless: plan.needless)
        tally.restored += plan.restored
        tally.asBefore += plan.asBefore
        tally.madeUnsyncable += plan.unsyncable.count
        tally.moved += plan.moved.count
        let left = plan.left.filter { memory.leave($0.id) }
        for (document, members) in Dictionary(grouping: left, by: \.document) {
            try kernel.retrying {
                try kernel.store.skipped.add(
                    members.map(\.id), because: document.reason.rawValue, code: document.code)
            }
        }
        for (id, document) in left { tally.leave(id, document) }
        try noteRepaired(plan.due)
        return .done(plan.finished.count)
    }

    private mutating func preview(_ plan: Plan, of indexes: [Int]) throws -> Attempt {
        guard !plan.isTooLarge else { return .again(indexes.count / 2) }
        var plan = plan
        let refused = try subject.target.validator?.refused(plan.due, in: collection, kernel.retry) ?? [:]
        for document in plan.due {
            guard let code = refused[document.id] else { continue }
            plan.left.append((document.id, UndoReport.LeftDocument(reason: .refused, code: code)))
        }
        plan.due.removeAll { refused[$0.id] != nil }
        for document in plan.due { overlay?.restore(document) }
        memory.finish(plan.due, needless: [])
        tally.restored += plan.restored
        tally.asBefore += plan.asBefore
        tally.madeUnsyncable += plan.unsyncable.count { refused[$0] == nil }
        for (id, document) in plan.left where memory.leave(id) { tally.leave(id, document) }
        return .done(plan.finished.count)
    }

    /// Continues after the server refused to restore a document, and nothing of the batch was written.
    ///
    /// Statements of single documents name the refused one. The documents before it are restored in a batch of their
    /// own.
    private mutating func refuse(
        _ plan: Plan, at statement: Int?, _ isGrouped: Bool, _ error: MongoError, of indexes: [Int]
    ) throws -> Attempt {
        guard indexes.count > 1 else {
            if let only = plan.due.first { memory.refused[only.id] = error.code.rawValue }
            return .again(1)
        }
        let order = try RestoringStatements(plan.due, grouped: isGrouped, guarded: false)
        guard let statement, let id = order.onlyDocument(of: statement),
            let place = indexes.firstIndex(where: { index in plan.due.contains { $0.index == index && $0.id == id } })
        else { return .again(isGrouped ? 1 : indexes.count / 2) }
        memory.refused[id] = error.code.rawValue
        return .again(max(1, place))
    }

    private mutating func conflict(_ plan: Plan, _ indexes: [Int]) -> Attempt {
        guard indexes.count == 1, let only = plan.due.first else { return .again(indexes.count / 2) }
        memory.conflicts += 1
        if memory.conflicts > Self.maximumConflicts {
            memory.refused[only.id] = MongoError.Code.writeConflict.rawValue
        }
        return .again(1)
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
    /// If there is not enough room, the first document without room and all entries after it are removed from `plan`.
    private func reserve(_ plan: inout Plan, _ part: JournalPart) throws {
        guard let budget, let active = budget.job.active, !plan.due.isEmpty else { return }
        var unsyncable: [BSONValue] = []
        for document in plan.due {
            let after = try document.restored()
            guard try active.check(after.view) == .certain, try active.check(document.current.view) != .certain
            else { continue }
            unsyncable.append(document.id)
        }
        defer { plan.unsyncable = unsyncable }
        guard !kernel.isDry, !unsyncable.isEmpty else { return }
        let namespace = subject.namespace
        let ids = unsyncable
        let recorded = try kernel.retrying { try kernel.store.reservations.pending(among: ids, of: namespace) }
        try kernel.retrying {
            try kernel.store.reservations.removeRepaired(since: budget.grace(kernel.store), of: namespace)
        }
        let headroom = try kernel.retrying { try budget.limit.exactHeadroom(kernel.store) }
        var new = unsyncable.filter { !recorded.contains($0) }
        if new.count > headroom.documents {
            let first = new[headroom.documents]
            plan.cut(before: first, in: part, headroom)
            unsyncable = Array(unsyncable.prefix { $0 != first })
            new = Array(new.prefix(headroom.documents))
        }
        guard !new.isEmpty else { return }
        // The documents in `new` sync now. If the ledger of unsynced documents lists one of them, its entry is
        // outdated.
        let reserved = new
        let shown = try kernel.retrying { try budget.ledger.listed(reserved, of: namespace) }
        let now = try kernel.retrying {
            try budget.limit.record(
                reserved, new: reserved, stale: reserved.filter(shown.contains), of: namespace, kernel.store)
        }
        guard now.isExceeded else { return }
        // The undo read the unsync budget, and then another job, for example, took the room that was left in the
        // budget. The undo therefore restores no document of the batch.
        if let first = plan.due.first?.id { plan.cut(before: first, in: part, now) }
        unsyncable = []
    }
}

extension UndoLoop.Plan {
    /// Removes an entry and all entries after it, because the unsync budget has no room for its document.
    fileprivate mutating func cut(before id: BSONValue, in part: JournalPart, _ headroom: Headroom) {
        let place = finished.firstIndex { part.entries[$0].id == id } ?? 0
        finished = Array(finished.prefix(place))
        let kept = Set(finished)
        let ids = Set(finished.map { part.entries[$0].id })
        due.removeAll { !kept.contains($0.index) }
        left.removeAll { !ids.contains($0.id) }
        let before = needless.count
        needless.removeAll { !kept.contains($0) }
        asBefore = max(0, asBefore - (before - needless.count))
        self.headroom = headroom
    }
}
