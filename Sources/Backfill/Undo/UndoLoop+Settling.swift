import BSON
import Checking
import Concurrency
import JobState
import Mongo

/// Documents that the job had made unsyncable, and that sync again.
extension UndoLoop {
    /// Notes that documents which the job had made unsyncable sync again.
    ///
    /// Each keeps its room for as long as the ledger may lag: it may still show what was repaired.
    func settle(_ restored: [Restoring]) throws {
        guard let active = budget?.job.active else { return }
        var repaired: [BSONValue] = []
        for document in restored {
            let after = try document.restored()
            if try active.check(after.view) != .certain { repaired.append(document.id) }
        }
        let namespace = subject.namespace
        try kernel.retrying {
            let pending = try kernel.store.reservations.pending(among: repaired, of: namespace)
            guard !pending.isEmpty else { return }
            try kernel.store.reservations.note(repaired: repaired.filter(pending.contains), harmed: [], of: namespace)
        }
    }

    /// Frees the room of what was repaired, once the ledger cannot show it any more.
    /// - Returns: the reason to stop when there is one.
    mutating func settleRepaired() throws -> BackfillReport.Stop? {
        guard let budget else { return nil }
        let (retry, grace) = (kernel.retry, budget.grace(kernel.store))
        var isTold = false
        while true {
            let left = try retry.run { () throws -> Int in
                try budget.freeRepaired(kernel.store, besides: [kernel.store.job])
                return try kernel.store.reservations.repairedCount(of: subject.namespace)
            }
            guard left > 0 else { return nil }
            if !isTold { runner.events(.waitingForLedger(documents: left, seconds: grace.seconds)) }
            isTold = true
            try kernel.sleep(min(grace, .seconds(2)))
            if runner.stop.isRaised { return .signal }
            if let deadline = kernel.deadline, .now >= deadline { return .timeBudget }
        }
    }
}
