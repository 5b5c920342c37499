import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import ServerSchema

extension UnsyncBudget {
    /// Of documents at risk that were written, those that were not harmed: they sync, are gone, or fail for something that
    /// no step which can do harm has changed, and so failed before.
    func unharmed(among ids: [BSONValue], by phase: Phase) throws -> [BSONValue] {
        guard let active = job.active else { return ids }
        var harmed: Set<BSONValue> = []
        for slice in ids.commandSlices(count: Self.batch) {
            var cursor = collection.find(
                ["_id": ["$in": .array(of: slice)]], options: ["readConcern": ["level": "majority"]])
            while let view = try cursor.next() {
                guard try active.check(view) == .certain else { continue }
                let violations = try active.violations(in: view, includingInfo: false).filter { $0.level == .certain }
                let isTheirs = violations.contains { violation in
                    !phase.riskySteps.flatMap(\.step.targets).contains { violation.path.meets($0) }
                }
                if !isTheirs, let id = BSONDocument(copying: view)["_id"] { harmed.insert(id) }
            }
        }
        return ids.filter { !harmed.contains($0) }
    }

    /// Frees the room of documents that the job once harmed and that sync again, or are gone.
    ///
    /// Each keeps its room for as long as the ledger may lag: it may still show what was repaired. Only for a runner that
    /// holds the job, and while no chunk is recorded and not yet written.
    func freeRepaired(_ store: borrowing StateStore) throws {
        for batch in try pending(store) where !stop.isRaised { try noteRepaired(among: batch, store) }
        try takeBackRepaired(store)
    }

    /// Frees the room of those that have been repaired for long enough.
    func takeBackRepaired(_ store: borrowing StateStore) throws(MongoError) {
        try store.reservations.removeRepaired(since: grace(store), of: collection.namespace)
    }

    /// How long a document that was repaired keeps its room: the ledger may still show it.
    func grace(_ store: borrowing StateStore) -> Duration {
        ledger.isNone ? .zero : max(limits.throttle.ledgerLag, store.terms.writeLimit)
    }

    /// Notes which of these documents sync again, or are gone.
    func noteRepaired(among ids: [BSONValue], _ store: borrowing StateStore) throws {
        let repaired = try repaired(among: ids)
        let isRepaired = Set(repaired)
        try store.reservations.note(
            repaired: repaired, harmed: ids.filter { !isRepaired.contains($0) }, of: collection.namespace)
    }

    /// The documents that the job harmed and that are pending, some at a time.
    func pending(_ store: borrowing StateStore) throws(MongoError) -> [[BSONValue]] {
        try store.reservations.ownPending(of: collection.namespace).commandSlices(count: Self.batch)
    }

    /// How many documents that the job once harmed sync again, or are gone.
    func repairedCount(_ store: borrowing StateStore) throws -> Int {
        var count = 0
        for batch in try pending(store) where !stop.isRaised { count += try repaired(among: batch).count }
        return count
    }

    private func repaired(among ids: [BSONValue]) throws -> [BSONValue] {
        guard let active = job.active else { return [] }
        var failing: Set<BSONValue> = []
        for slice in ids.commandSlices(count: Self.batch) {
            var cursor = collection.find(
                ["_id": ["$in": .array(of: slice)]], options: ["readConcern": ["level": "majority"]])
            while let view = try cursor.next() {
                if try active.check(view) == .certain, let id = BSONDocument(copying: view)["_id"] {
                    failing.insert(id)
                }
            }
        }
        return ids.filter { !failing.contains($0) }
    }
}

extension SchemaPath {
    /// Whether one of the two leads to the other.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}
