import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The procedure for one chunk, which is one transaction: ``ChunkWork`` → commit → what is left of the chunk.
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

    /// The error that the unsync budget has no room for the first document of a chunk.
    struct RoomNeeded: Error { let room: Headroom }

    /// Takes a chunk through the procedure.
    ///
    /// If the unsync budget has too little room for all documents of the chunk, only the first ones are written.
    mutating func attempt(_ work: ChunkWork) throws -> Attempt {
        var needing = work.chunk
        do { return try attempt(once: work, &needing) } catch is RoomNeeded {
            // Documents that were repaired may give room. The budget reads what a majority has, so a majority must have
            // all chunks before it decides that a document syncs.
            try kernel.renew()
            try resume()
            try freeRepaired()
            account.headroom = nil
            do { return try attempt(once: self.work(on: needing), &needing) } catch let needed as RoomNeeded {
                return .stopped(.threshold(needed.room))
            }
        }
    }

    /// - Parameter needing: the chunk to try again if the unsync budget has no room; set to the documents that were
    ///   found if the chunk had the next ones of the collection.
    private mutating func attempt(once work: ChunkWork, _ needing: inout Chunk) throws -> Attempt {
        let chunk = work.chunk
        if chunk.conflicts > Self.unguarded, let id = chunk.ids.first { return try guarded(work, id) }
        var (done, account, tries) = (ChunkWork.Done(), account, 0)
        let outcome = Result {
            try kernel.transaction(halves: work.isDivisible) { transaction in
                tries += 1
                // Another member may answer now, where the place means another document.
                if chunk.isNext, tries > 1 { throw ChunkWork.PlaceLost() }
                (done, account) = (ChunkWork.Done(), self.account)
                try work.run(in: transaction, journal: kernel.store.journal, &done) { due in
                    work.phase.isSafe ? due : try admitted(due, of: work.phase, &account)
                }
            }
        }
        done.end()
        if chunk.isNext, case .failure(is RoomNeeded) = outcome {
            needing = Chunk(done.found.ids + done.found.rest, phase: chunk.phase)
        }
        if case .success(.committed) = outcome { self.account = account }
        return try settle(work, done, outcome)
    }

    /// The work of a chunk, with the state of the run now.
    func work(on chunk: Chunk) -> ChunkWork {
        var progress = progress
        progress.bound = bound
        return ChunkWork(
            chunk: chunk, phase: job.phase(at: chunk.phase), job: job, evaluator: evaluators[chunk.phase] ?? nil,
            records: records, keepsJournal: runner.keepsJournal, journal: journal, refreshing: refreshing,
            tally: tally, skipped: skipped, amount: pacing.amount, collectionUUID: checkedUUID, progress: progress,
            writeLimit: kernel.lease.terms.writeLimit)
    }

    /// Decides what becomes of a chunk after its transaction has ended, on whichever thread.
    mutating func settle(
        _ work: ChunkWork, _ done: ChunkWork.Done, _ outcome: Result<FencedTransaction.Outcome<Void>, any Error>
    ) throws -> Attempt {
        let (chunk, found, written) = (work.chunk, done.found, done.written)
        do {
            var rest = chunk.parts(of: pacing.documents, found.rest)
            switch try outcome.get() {
            case .fallenBack:
                try resume()
                return .again(chunk.isNext ? chunk.parts(of: pacing.documents, found.ids + found.rest) : [chunk])
            case .abandoned:
                progress.processed += work.isLast ? found.documents.count : 0
                return .done(documents: 0, modified: 0, rest: rest)
            case .refused(let statement, let error):
                let ids = written.isEmpty ? found.ids : written.map(\.id)
                switch try narrow(chunk, ids, at: statement, error) {
                case .again(let chunks):
                    let left = Set(ids)
                    let others = found.ids.filter { !left.contains($0) }
                    return .again(chunks + chunk.parts(of: max(1, others.count), others) + rest)
                case let other: return other
                }
            case .conflict:
                guard found.ids.count > 1 else {
                    return .again(found.ids.compactMap { chunk.afterConflict($0) } + rest)
                }
                return halved(chunk, found.ids + found.rest)
            case .committed:
                try note(work, done)
                guard written.count < found.documents.count else {
                    return .done(documents: written.count, modified: written.count, rest: rest)
                }
                let ids = Set(written.map(\.id))
                let left = found.documents.map(\.id).filter { !ids.contains($0) }
                if !work.phase.isSafe { rest.insert(contentsOf: chunk.parts(of: left.count, left), at: 0) }
                return .done(documents: written.count, modified: written.count, rest: rest)
            }
        } catch let ending as Ending {
            return .stopped(ending.stop)
        } catch is ChunkWork.PlaceLost {
            records = nil
            return .again([])
        } catch let differing as ChunkWork.DifferingChildren {
            // The linked documents of the others exist with another content, so they are left for the next pass.
            return .again(chunk.parts(of: max(1, differing.ids.count), found.ids.filter(differing.ids.contains)))
        } catch let failure as DocumentFailure {
            return try narrow(chunk, chunk.isNext ? found.ids : chunk.ids, at: nil, failure.error)
        } catch let error as MongoError where error.isTimeLimit && work.isDivisible && !found.ids.isEmpty {
            return halved(chunk, found.ids + found.rest)
        } catch let error as MongoError where chunk.isNext && [.keyNotFound, .noSuchTransaction].contains(error.code) {
            records = nil
            return .again([])
        }
    }

    /// Notes a chunk that was committed.
    mutating func note(_ work: ChunkWork, _ done: ChunkWork.Done) throws {
        let ids = done.written.map(\.id)
        account.add(done.written)
        progress.add(done.count)
        tally.committed(ids)
        if journal.committed(done.sequence, count: progress.journaled) { try expectState() }
        if let writing = done.writing { pacing.note(writing) }
        if work.chunk.phase == 0 { try watch?.note(written: ids) }
    }

    /// Continues from the job's record, which differs from what the run remembers: an election undid transactions, or
    /// one was committed although its reply was lost.
    ///
    /// Documents whose changes were undone need the job again, and the survey at the end finds them.
    mutating func resume() throws {
        guard kernel.hasFallenBack else { return }
        try waitForThreads { _, _ in }
        guard let record = try kernel.takeFallenBack() else { return }
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

    /// Halves the size of the next chunk, because another client wrote a document of the chunk, or it took too long.
    private mutating func halved(_ chunk: Chunk, _ ids: [BSONValue]) -> Attempt {
        pacing.halve(from: ids.count)
        kernel.events(.halved(documents: pacing.documents))
        return .again(chunk.parts(of: max(1, (ids.count + 1) / 2), ids))
    }
}
