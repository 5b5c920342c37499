import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The procedure for one chunk, which is one transaction: read → evaluate → reserve → fence and checkpoint → journal →
/// new documents of other collections → write → commit.
extension BackfillRun {
    enum Attempt {
        /// The chunk is done, except for its documents in `rest`; the numbers say how many documents it had and how
        /// many it changed.
        case done(documents: Int, modified: Int, rest: [Chunk])
        /// Nothing of the chunk was written; its documents have to be tried again, in the given chunks.
        case again([Chunk])
        /// The run has to stop, and the chunk is not done.
        case stopped(RunStop)
    }

    /// A decision that ends a transaction before it writes.
    struct Ending: Error { let stop: RunStop }

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
    struct RoomNeeded: Error { let room: Headroom }

    private mutating func attempt(once chunk: Chunk) throws -> Attempt {
        let phase = job.phase(at: chunk.phase)
        if chunk.conflicts > Self.unguarded, let id = chunk.ids.first { return try guarded(chunk, id, phase) }
        var found = Found()
        var written: [DueDocument] = []
        var account = account
        var after = progress
        var (tries, writing) = (0, ContinuousClock.now)
        let halves = chunk.isNext || chunk.ids.count > 1
        let outcome: FencedTransaction.Outcome<Void>
        do {
            outcome = try kernel.transaction(halves: halves) { transaction in
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
        } catch let error as MongoError where error.isTimeLimit && halves && !found.ids.isEmpty {
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
            let sequence = runner.keepsJournal && !written.isEmpty ? progress.journaled : nil
            if journal.committed(sequence) { try expectState() }
            pacing.note(writing.duration(to: .now))
            if chunk.phase == 0 { try watch?.note(written: written.map(\.id)) }
            let done = Set(written.map(\.id))
            let left = found.documents.map(\.id).filter { !done.contains($0) }
            if !phase.isSafe, !left.isEmpty { rest.insert(contentsOf: chunk.parts(of: left.count, left), at: 0) }
            return .done(documents: found.documents.count - left.count, modified: written.count, rest: rest)
        }
    }

    /// The error that documents of other collections exist with another content than a step computed for them.
    struct DifferingChildren: Error {
        /// The documents of the chunk that can be written.
        let ids: Set<BSONValue>
    }

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

    /// Ends the run if another client removed the job's record, or its journal.
    func expectState() throws {
        let first = journal.first
        try kernel.retrying { try kernel.store.journal.expectKept(first, kernel.store.ranges) }
    }

    func counted(_ due: [DueDocument], of chunk: Chunk, afterJournal: Bool) -> Progress {
        var after = progress
        after.add(
            documents: isLast(chunk) ? due.count : 0, modified: tally.fresh(due.map(\.id)), updates: due.count,
            last: due.last?.id)
        if afterJournal { after.journaled += 1 }
        after.bound = bound
        return after
    }

    var updateOptions: BSONDocument {
        let options: BSONDocument = [
            "comment": .string("shipshape backfill \(job.job.name)"),
            "maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds),
        ]
        return checkedUUID.map { options.appending("collectionUUID", $0) } ?? options
    }

    func record(
        _ journal: ChunkJournal, of phase: Phase, at index: Int, as progress: Progress,
        in transaction: borrowing FencedTransaction
    ) throws {
        let store = kernel.store.journal
        let documents = store.documents(
            journal, after: progress, phase: index, group: self.journal.group, touched: phase.touched)
        do {
            if FaultInjection.isPlanted(.journalOutside) {
                try store.insertOutside(documents)
            } else {
                try transaction.record(documents, in: JournalStore.collection)
            }
        } catch let error where error.code == .outOfDiskSpace { throw store.full(error) }
        FaultInjection.reached(.afterJournal)
    }

    /// Halves the size of the next chunk, because another client wrote a document of the chunk, or it took too long.
    private mutating func halved(_ chunk: Chunk, _ ids: [BSONValue]) -> Attempt {
        pacing.halve(from: ids.count)
        kernel.events(.halved(documents: pacing.documents))
        return .again(chunk.parts(of: max(1, (ids.count + 1) / 2), ids))
    }
}
