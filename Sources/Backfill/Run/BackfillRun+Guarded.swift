import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

/// A chunk of one document that other clients write all the time.
extension BackfillRun {
    /// The number of conflicts after which a chunk of one document begins with its write.
    static let unguarded = 2

    /// Takes a chunk of one document through the procedure, beginning with its write.
    ///
    /// If other clients write a document all the time, a transaction that reads it first never commits. The write comes
    /// first, with the condition that the fields which the phase reads or writes are as they were read before.
    mutating func guarded(_ work: ChunkWork, _ id: BSONValue) throws -> Attempt {
        let (chunk, phase) = (work.chunk, work.phase)
        var found = ChunkWork.Found()
        let reading: FencedTransaction.Outcome<Void>
        do {
            reading = try kernel.transaction { transaction in
                found = ChunkWork.Found()
                let collection = try transaction.collection(job.job.namespace)
                let context = job.context(collection)
                var cursor = try DueCursor(
                    .ids([id]), of: try work.cleared(phase, for: [id], in: context), .whole, in: context,
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
        var done = ChunkWork.Done()
        (done.written, done.count) = ([document], work.count([document]))
        let update = try ChunkWriter(phase: phase).guarded(document, at: phase.concerned)
        let outcome: FencedTransaction.Outcome<Bool>
        do {
            outcome = try kernel.transaction { transaction in
                guard let update,
                    try transaction.update([update], of: job.job.namespace, options: work.updateOptions) == 1
                else { return false }
                try transaction.fence(setting: RangeChange.checkpoint(done.count, after: work.progress))
                if work.keepsJournal {
                    done.sequence = try work.record(entries, in: transaction, kernel.store.journal)
                }
                let context = job.context(try transaction.collection(job.job.namespace))
                guard try !ChildWriter(context: context).create(for: [document], in: transaction).isEmpty else {
                    throw ChunkWork.DifferingChildren(ids: [])
                }
                return true
            }
        } catch is ChunkWork.DifferingChildren { return .done(documents: 0, modified: 0, rest: []) }
        switch outcome {
        case .committed:
            self.account = account
            try note(work, done)
            return .done(documents: 1, modified: 1, rest: [])
        case .refused(_, let error): return try narrow(chunk, [id], at: 0, error)
        case .fallenBack:
            try resume()
            return .again([chunk])
        case .abandoned, .conflict: return .again([chunk.afterConflict(id)].compactMap(\.self))
        }
    }
}
