import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

extension BackfillRun {
    /// Judges the documents of a chunk, and reserves as many of them as the unsync budget has room for.
    ///
    /// The headroom is the room that is left in the unsync budget. If the headroom that was read for the previous chunk
    /// suffices for all documents, it is used; otherwise it is read before the judgement. It is always read after a
    /// reservation, so that it includes what other jobs reserved at the same time. The reservations are written before
    /// the transaction's first write, and stay if the transaction ends without a commit: the next attempt needs them,
    /// or they are released as those of documents that sync.
    /// - Returns: the chunk's first documents, as many as there is room for.
    func admitted(
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
            // Other jobs, or new entries in the ledger of unsynced documents, may have taken the room after the
            // headroom was read, so the headroom is read again.
            account.headroom = now.isExceeded ? nil : now
            if !now.isExceeded { return decision.documents }
        }
        throw Ending(stop: .threshold(try room(for: documents.count, budget, &account)))
    }

    private func room(
        for documents: Int, _ budget: UnsyncBudget, _ account: inout UnsyncAccount
    ) throws -> Headroom {
        if let headroom = account.headroom, headroom.documents >= documents { return headroom }
        let now = try kernel.retrying { try budget.limit.exactHeadroom(kernel.store) }
        account.headroom = now
        return now
    }
}
