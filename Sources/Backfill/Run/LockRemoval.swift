import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The removal of the locks that Device Sync's translator left in documents.
struct LockRemoval {
    let job: Job
    /// The UUID of the collection for which the job was planned; `nil` if the server cannot compare it.
    let collectionUUID: BSONValue?

    /// Removes the locks that are still as they were read.
    /// - Returns: the number of documents from which a lock was removed.
    func remove(_ locks: [(id: BSONValue, lock: BSONDocument)], _ kernel: borrowing Kernel) throws -> Int {
        let statements = locks.map { id, lock in
            let isSame = SyncLock.fields.map { name in
                let field = Expression(.string("$\(name)"))
                return lock[name].map { field == .constant($0) } ?? field.isMissing
            }
            return UpdateStatement(
                ["_id": ["$eq": id], "$expr": Expression.all(isSame).bson],
                [["$unset": .array(of: SyncLock.fields.map { .string($0) })]])
        }
        var options: BSONDocument = ["comment": .string("shipshape backfill \(job.name)")]
        if let collectionUUID { options = options.appending("collectionUUID", collectionUUID) }
        for _ in 0..<Self.tries {
            let outcome = try kernel.transaction { transaction in
                try transaction.fence(setting: ["active": "$$NOW"])
                return try transaction.update(statements, of: job.namespace, options: options)
            }
            switch outcome {
            case .committed(let removed), .abandoned(let removed): return removed
            case .refused(_, let error): throw error
            case .conflict, .fallenBack: continue
            }
        }
        return 0
    }

    private static let tries = 10
}
