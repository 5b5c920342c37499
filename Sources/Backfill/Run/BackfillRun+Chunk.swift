import BSON
import Concurrency
import Evaluating
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The procedure for one chunk, which is one transaction: read → evaluate → reserve → fence and checkpoint → journal →
/// new documents of other collections → write → commit.
extension BackfillRun {
    /// The outcome of an attempt at a chunk.
    enum Attempt {
        /// The chunk is done, except for its documents in `rest`; the numbers say how many documents it had and how many
        /// it changed.
        case done(documents: Int, modified: Int, rest: [Chunk])
        /// Nothing of the chunk was written; its documents have to be tried again, in the given chunks.
        case again([Chunk])
        /// The run has to stop, and the chunk is not done.
        case stopped(RunStop)
    }

    /// The documents that a transaction read.
    private struct Found {
        /// The documents that need the phase, in the order in which they are written.
        var documents: [DueDocument] = []
        /// The `_id`s of the documents that the server has to evaluate.
        var unknown: [BSONValue] = []
        /// The place after the documents, if the chunk has the next documents of the collection.
        var place: RecordPlace?
        /// The documents of the chunk that were not read, because together they are too large.
        var rest: [BSONValue] = []

        /// The `_id`s of all documents that may need the phase.
        var ids: [BSONValue] { documents.map(\.id) + unknown }
    }

    /// A decision that ends a transaction before it writes.
    private struct Ending: Error { let stop: RunStop }

    /// The error that the place of a dense read is unknown, for example after an election.
    private struct PlaceLost: Error {}

    /// Takes a chunk through the procedure.
    ///
    /// If the unsync budget has too little room for all documents of the chunk, only the first ones are written.
    mutating func attempt(_ chunk: Chunk) throws -> Attempt {
        do { return try attempt(once: chunk) } catch is RoomNeeded {
            // Documents that were repaired may give room. The budget reads what a majority has, so a majority must have
            // all chunks before it decides that a document syncs.
            try kernel.renew()
            try resume()
            try freeRepaired()
            account.headroom = nil
            do { return try attempt(once: chunk) } catch let needed as RoomNeeded {
                return .stopped(.threshold(needed.room))
            }
        }
    }

    /// The error that the unsync budget has no room for the first document of a chunk.
    private struct RoomNeeded: Error { let room: Headroom }

    private mutating func attempt(once chunk: Chunk) throws -> Attempt {
        let phase = job.phase(at: chunk.phase)
        if chunk.conflicts > Self.unguarded, let id = chunk.ids.first { return try guarded(chunk, id, phase) }
        var found = Found()
        var written: [DueDocument] = []
        var account = account
        var after = progress
        var (tries, writing) = (0, ContinuousClock.now)
        let outcome: FencedTransaction.Outcome<Void>
        do {
            outcome = try kernel.transaction { transaction in
                tries += 1
                // Another member may answer now, where the place means another document.
                if chunk.isNext, tries > 1 { throw PlaceLost() }
                (found, written, account, after) = (Found(), [], self.account, progress)
                try find(chunk, of: phase, in: transaction, &found)
                var due = found.documents
                if chunk.phase == job.phases.count { due = try refreshing.own(among: due) }
                if !phase.isSafe { due = try admitted(due, of: phase, &account) }
                var journal: ChunkJournal?
                if runner.keepsJournal {
                    let (entries, kept) = try self.journal.entries(of: due, phase)
                    (journal, due) = (entries, kept)
                }
                let context = job.context(try transaction.collection(job.job.namespace))
                guard !due.isEmpty else { return }
                after = counted(due, of: chunk, afterJournal: journal != nil)
                try transaction.fence(setting: RangeChange.checkpoint(after))
                if let journal { try record(journal, of: phase, at: chunk.phase, as: after, in: transaction) }
                let ready = try ChildWriter(context: context).create(for: due, in: transaction)
                guard ready.count == due.count else { throw DifferingChildren(ids: Set(ready.map(\.id))) }
                (written, writing) = (due, .now)
                let updates = try ChunkWriter(phase: phase, isPerDocument: chunk.isCareful).updates(due)
                try transaction.update(updates, of: job.job.namespace, options: updateOptions)
            }
        } catch let ending as Ending {
            return .stopped(ending.stop)
        } catch is PlaceLost {
            records = nil
            return .again([])
        } catch let differing as DifferingChildren {
            // The linked documents of the others exist with another content, so they are left for the next pass.
            adopt(found)
            return .again(chunk.parts(of: max(1, differing.ids.count), found.ids.filter(differing.ids.contains)))
        } catch let failure as DocumentFailure {
            adopt(found)
            return try narrow(chunk, chunk.isNext ? found.ids : chunk.ids, at: nil, failure.error)
        } catch let error as MongoError where error.isTimeLimit && found.ids.count > 1 {
            adopt(found)
            return halved(chunk, found.ids + found.rest)
        } catch let error as MongoError where chunk.isNext && [.keyNotFound, .noSuchTransaction].contains(error.code) {
            records = nil
            return .again([])
        }
        var rest = chunk.parts(of: pacing.documents, found.rest)
        switch outcome {
        case .fallenBack:
            try resume()
            return .again(chunk.isNext ? [] : [chunk])
        case .abandoned:
            adopt(found)
            progress.processed += isLast(chunk) ? found.documents.count : 0
            return .done(documents: 0, modified: 0, rest: rest)
        case .refused(let statement, let error):
            adopt(found)
            let ids = written.isEmpty ? found.ids : written.map(\.id)
            switch try narrow(chunk, ids, at: statement, error) {
            case .again(let chunks):
                let left = Set(ids)
                let others = found.ids.filter { !left.contains($0) }
                return .again(chunks + chunk.parts(of: max(1, others.count), others) + rest)
            case let other: return other
            }
        case .conflict:
            adopt(found)
            guard found.ids.count > 1 else {
                return .again(found.ids.compactMap { chunk.afterConflict($0) } + rest)
            }
            return halved(chunk, found.ids + found.rest)
        case .committed:
            adopt(found)
            self.account = account
            self.account.add(written)
            progress = after
            tally.committed(written.map(\.id))
            pacing.note(writing.duration(to: .now))
            if chunk.phase == 0 { try watch?.note(written: written.map(\.id)) }
            let done = Set(written.map(\.id))
            let left = found.documents.map(\.id).filter { !done.contains($0) }
            if !phase.isSafe, !left.isEmpty { rest.insert(contentsOf: chunk.parts(of: left.count, left), at: 0) }
            return .done(documents: found.documents.count - left.count, modified: written.count, rest: rest)
        }
    }

    /// The error that documents of other collections exist with another content than a step computed for them.
    private struct DifferingChildren: Error {
        /// The documents of the chunk that can be written.
        let ids: Set<BSONValue>
    }

    /// Continues a dense read after the documents that a transaction read.
    private mutating func adopt(_ found: Found) { if let place = found.place { records = place } }

    /// Continues from the job's record, which differs from what the run remembers: an election undid transactions, or
    /// one was committed although its reply was lost.
    ///
    /// Documents whose changes were undone need the job again, and the survey at the end finds them.
    mutating func resume() throws {
        guard let record = kernel.takeFallenBack() else { return }
        progress = Progress(record)
        tally.reset()
        stopWatching()
        kernel.events(.rerun)
    }

    /// Returns the progress with the documents of a chunk.
    private func counted(_ due: [DueDocument], of chunk: Chunk, afterJournal: Bool) -> Progress {
        var after = progress
        after.add(
            documents: isLast(chunk) ? due.count : 0, modified: tally.fresh(due.map(\.id)), updates: due.count,
            last: due.last?.id)
        if afterJournal { after.journaled += 1 }
        after.bound = bound
        return after
    }

    private var updateOptions: BSONDocument {
        let options: BSONDocument = [
            "comment": .string("shipshape backfill \(job.job.name)"),
            "maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds),
        ]
        return checkedUUID.map { options.appending("collectionUUID", $0) } ?? options
    }

    private func record(
        _ journal: ChunkJournal, of phase: Phase, at index: Int, as progress: Progress,
        in transaction: borrowing FencedTransaction
    ) throws {
        let store = kernel.store.journal
        let key = JournalStore.Key(
            sequence: progress.journaled, pass: progress.pass, phase: index, chunk: self.journal.group)
        let documents = store.documents(journal, as: key, touched: phase.touched)
        do {
            if FaultInjection.isPlanted(.journalOutside) {
                try store.insertOutside(documents)
            } else {
                try transaction.record(documents, in: JournalStore.name)
            }
        } catch let error where error.code == .outOfDiskSpace { throw store.full(error) }
        FaultInjection.reached(.afterJournal)
    }

    // MARK: Read and evaluate

    /// Reads the documents of a chunk in its transaction, and finds those that need the phase.
    private func find(
        _ chunk: Chunk, of phase: Phase, in transaction: borrowing FencedTransaction, _ found: inout Found
    ) throws {
        let collection = try transaction.collection(job.job.namespace)
        let detail = phase.detail(keepsJournal: runner.keepsJournal)
        if let evaluator = evaluators[chunk.phase] ?? nil, phase.earlierOfClient.isEmpty {
            var finder = DueFinder(phase: phase, evaluator: evaluator, detail: detail, journal.evidence)
            if chunk.isNext {
                try readNext(&finder, in: collection, &found)
            } else {
                try read(chunk.ids, &finder, in: collection, &found)
            }
            guard !found.unknown.isEmpty else { return }
        } else {
            guard !chunk.isNext else { throw PlaceLost() }
            found.unknown = chunk.ids
        }
        let unknown = found.unknown
        for (index, ids) in unknown.commandSlices(count: Self.maximumAsked).enumerated() {
            if index > 0 {
                // The server evaluates a limited number of documents for each transaction.
                found.rest += ids
                continue
            }
            let context = job.context(collection)
            var cursor = try DueCursor(
                .ids(ids), of: try cleared(phase, for: ids, in: context), detail, in: context,
                collectionUUID: checkedUUID, evidence: journal.evidence)
            let documents = try cursor.read(ReadAmount(documents: .max, bytes: pacing.bytes))
            if documents.reduce(0, { $0 + $1.size }) >= pacing.bytes {
                let read = Set(documents.map(\.id))
                found.rest += ids.filter { !read.contains($0) }
            }
            found.documents += documents
        }
        found.unknown = []
    }

    /// The most documents that the server evaluates in one transaction.
    ///
    /// With an earlier client-side step, the server also compares each document with the list of all these documents.
    private static let maximumAsked = 2_000
    private static let maximumCleared = 200

    private func read(
        _ ids: [BSONValue], _ finder: inout DueFinder, in collection: MongoCollection, _ found: inout Found
    ) throws {
        var options: BSONDocument = ["hint": ["_id": 1], "comment": "shipshape find"]
        if let uuid = checkedUUID { options = options.appending("collectionUUID", uuid) }
        let reader = IDReader(collection: collection, options: options)
        var bytes = 0
        var read: Set<BSONValue>?
        try reader.read(ids) { view in
            guard bytes < pacing.bytes || found.documents.isEmpty else {
                if read == nil { read = Set(found.ids) }
                if let id = try view.find("_id") { found.rest.append(try view.value(id)) }
                return
            }
            bytes += view.byteCount
            try evaluate(view, &finder, &found)
        }
        let order = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
        found.documents.sort { order[$0.id] ?? 0 < order[$1.id] ?? 0 }
    }

    /// The most batches of documents that need nothing in one transaction.
    private static let maximumBatches = 20

    private func readNext(
        _ finder: inout DueFinder, in collection: MongoCollection, _ found: inout Found
    ) throws {
        guard var place = records else { throw PlaceLost() }
        for _ in 0..<Self.maximumBatches where found.ids.isEmpty && !place.isOver {
            let batch = try collection.recordBatch(
                after: place.record, count: pacing.documents, comment: "shipshape find", collectionUUID: checkedUUID)
            try batch.forEach { view in
                try evaluate(view, &finder, &found)
                return true
            }
            guard batch.isOver || batch.position != nil else { throw PlaceLost() }
            (place.record, place.isOver) = (batch.position, batch.isOver)
        }
        let skipped = skipped
        found.documents.removeAll { skipped.contains($0.id) }
        found.unknown.removeAll { skipped.contains($0) }
        found.place = place
    }

    private func evaluate(
        _ view: borrowing BSONView, _ finder: inout DueFinder, _ found: inout Found
    ) throws {
        do throws(NotEvaluated) {
            if let document = try finder.due(view) { found.documents.append(document) }
        } catch {
            if let id = try view.find("_id") { found.unknown.append(try view.value(id)) }
        }
    }

    /// Returns the phase with a condition that matches only documents which need no earlier client-side step.
    ///
    /// The server cannot evaluate a client-side step. This program therefore evaluates the steps, and the condition
    /// lists the documents that need none of them. A listed document matches until another client changes a field that
    /// the earlier steps read or write.
    private func cleared(_ phase: Phase, for ids: [BSONValue], in context: ClientContext) throws -> Phase {
        let steps = phase.earlierOfClient
        guard !steps.isEmpty else { return phase }
        let names = Set(steps.flatMap { $0.step.kind.touched + $0.step.reads }.map { $0.components[0] }).sorted()
        var evaluation = Evaluation(.ids(ids), through: steps, in: context, onlyNeeding: true, where: phase.mayNeed)
        var cleared: [BSONValue: Expression] = [:]
        while let outcome = try blaming({ try evaluation.next() }) {
            guard let id = outcome.before["_id"], !outcome.isChanged else { continue }
            cleared[id] = try .all(
                [Expression(.string("$_id")) == .constant(id)] + Expression.areExactly(names, asIn: outcome.before))
        }
        return phase.clearing(cleared)
    }

    // MARK: Judge and reserve

    /// Judges the documents of a chunk, and reserves as many of them as the unsync budget has room for.
    ///
    /// The headroom is the room that is left in the unsync budget. If the headroom that was read for the previous chunk
    /// suffices for all documents, it is used; otherwise it is read before the judgement. It is always read after a
    /// reservation, so that it includes what other jobs reserved at the same time. The reservations are written before
    /// the transaction's first write, and stay if the transaction ends without a commit: the next attempt needs them, or
    /// they are released as those of documents that sync.
    /// - Returns: the chunk's first documents, as many as there is room for.
    private func admitted(
        _ documents: [DueDocument], of phase: Phase, _ account: inout UnsyncAccount
    ) throws -> [DueDocument] {
        guard !documents.isEmpty else { return [] }
        let budget = budget
        for _ in 0..<SharedLimit.maximumTries {
            let room = try room(for: documents.count, budget, &account)
            let decision = try kernel.retrying {
                try budget.decide(documents, of: phase, room: room.documents, kernel.store)
            }
            guard !decision.documents.isEmpty else { throw RoomNeeded(room: room) }
            guard !decision.counted.isEmpty else {
                // Nothing is written to documents that do not sync while the limit is reached already.
                let isFailing = decision.documents.contains { $0.judgement == .failing }
                if isFailing, room.isExceeded { throw Ending(stop: .threshold(room)) }
                return decision.documents
            }
            let now = try kernel.retrying {
                try budget.limit.record(
                    decision.counted, new: decision.newlyRecorded, stale: decision.stale, of: job.job.namespace,
                    kernel.store)
            }
            // Other jobs, or new entries in the ledger of unsynced documents, may have taken the room after the headroom
            // was read, so the headroom is read again.
            account.headroom = now.isExceeded ? nil : now
            if !now.isExceeded { return decision.documents }
        }
        throw Ending(stop: .threshold(try room(for: documents.count, budget, &account)))
    }

    /// Returns the room that is left in the unsync budget.
    ///
    /// If the room that was read for the previous chunk suffices for `documents` documents, it is returned; otherwise
    /// the room is read again.
    private func room(
        for documents: Int, _ budget: UnsyncBudget, _ account: inout UnsyncAccount
    ) throws -> Headroom {
        if let headroom = account.headroom, headroom.documents >= documents { return headroom }
        let now = try kernel.retrying { try budget.limit.exactHeadroom(kernel.store) }
        account.headroom = now
        return now
    }

    // MARK: Conflicts with other clients

    /// The number of conflicts after which a chunk of one document begins with its write.
    private static let unguarded = 2

    /// Takes a chunk of one document through the procedure, beginning with its write.
    ///
    /// If other clients write a document all the time, a transaction that reads it first never commits. The write comes
    /// first, with the condition that the fields which the phase reads or writes are as they were read before.
    private mutating func guarded(_ chunk: Chunk, _ id: BSONValue, _ phase: Phase) throws -> Attempt {
        var found = Found()
        let reading: FencedTransaction.Outcome<Void>
        do {
            reading = try kernel.transaction { transaction in
                found = Found()
                let collection = try transaction.collection(job.job.namespace)
                let context = job.context(collection)
                var cursor = try DueCursor(
                    .ids([id]), of: try cleared(phase, for: [id], in: context), .whole, in: context,
                    collectionUUID: checkedUUID, evidence: journal.evidence)
                found.documents = try cursor.read(ReadAmount(documents: 1, bytes: .max))
            }
        } catch let failure as DocumentFailure { return try narrow(chunk, [id], at: 0, failure.error) }
        if case .fallenBack = reading {
            try resume()
            return .again([chunk])
        }
        var account = account
        var due: [DueDocument] = []
        do {
            due = found.documents
            if chunk.phase == job.phases.count { due = try refreshing.own(among: due) }
            if !phase.isSafe { due = try admitted(due, of: phase, &account) }
        } catch let ending as Ending { return .stopped(ending.stop) }
        let (entries, kept) = try journal.entries(of: due, phase)
        guard let document = kept.first else { return .done(documents: 0, modified: 0, rest: []) }
        let after = counted([document], of: chunk, afterJournal: runner.keepsJournal)
        let update = try ChunkWriter(phase: phase).guarded(document, at: phase.concerned)
        let outcome: FencedTransaction.Outcome<Bool>
        do {
            outcome = try kernel.transaction { transaction in
                guard let update,
                    try transaction.update([update], of: job.job.namespace, options: updateOptions) == 1
                else { return false }
                try transaction.fence(setting: RangeChange.checkpoint(after))
                if runner.keepsJournal { try record(entries, of: phase, at: chunk.phase, as: after, in: transaction) }
                let context = job.context(try transaction.collection(job.job.namespace))
                guard try !ChildWriter(context: context).create(for: [document], in: transaction).isEmpty else {
                    throw DifferingChildren(ids: [])
                }
                return true
            }
        } catch is DifferingChildren { return .done(documents: 0, modified: 0, rest: []) }
        switch outcome {
        case .committed:
            self.account = account
            self.account.add([document])
            progress = after
            tally.committed([id])
            return .done(documents: 1, modified: 1, rest: [])
        case .refused(_, let error): return try narrow(chunk, [id], at: 0, error)
        case .fallenBack:
            try resume()
            return .again([chunk])
        case .abandoned, .conflict: return .again([chunk.afterConflict(id)].compactMap(\.self))
        }
    }

    /// Halves the size of the next chunk, because another client wrote a document of the chunk, or it took too long.
    /// - Parameter ids: the documents that were not written.
    private mutating func halved(_ chunk: Chunk, _ ids: [BSONValue]) -> Attempt {
        pacing.halve(from: ids.count)
        kernel.events(.halved(documents: pacing.documents))
        return .again(chunk.parts(of: max(1, (ids.count + 1) / 2), ids))
    }
}

/// The place of a dense read in the collection.
struct RecordPlace {
    /// The number of the record after which the read continues; `nil` at the start of the collection.
    var record: Int64?
    /// Whether the read has reached the end of the collection.
    var isOver = false
}
