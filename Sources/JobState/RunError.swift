package import BSON
package import ServerSchema

/// The reason why a command cannot run or cannot continue.
package struct RunError: Error, Hashable, Sendable {
    package enum Kind: Sendable, Hashable {
        /// The job file, a schema, the validator or the collection is not the one with which the work was started.
        case bindingChanged
        /// No run has begun a job of the given name, or `enforce` has not changed the collection.
        case unknownJob
        /// The command requires another state of the job, or of the partner (a second collection that is kept in sync
        /// with the first), usually `done`.
        case notDone
        /// The job is paused, because an operator asked it to wait.
        case paused
        /// The job waits for the deploy of its next schema, and no deploy is recorded.
        case notDeployed
        /// The collection does not exist, or was renamed, replaced or dropped during the work.
        case unknownCollection
        /// The command cannot use the collection, for instance because it is a view or a time series.
        case unsupportedCollection
        /// A document of the state database is damaged, missing, or written by another version of the program.
        case checkpointUnreadable
        /// The job would never end, because some documents would still need it after a run.
        case notIdempotent
        /// A step, a schema or a validator does not fit the server, the collection or another schema.
        case schemaMismatch
        /// Another runner holds the lease of the job, or changes the validator of the collection.
        case leaseHeld
        /// This runner no longer holds the lease, for instance because another runner took it.
        case leaseLost
        /// A signal or the time limit stopped the command while it waited or cleaned up.
        case stopped
        /// No majority of the members confirmed the last writes.
        case unconfirmed
        /// The deployment has no disk space for the journal of the next chunk.
        case journalFull
        /// The job cannot be undone, or it was undone or is being undone.
        case undoRefused
        /// The writes of the command would make more documents unsyncable than the limit still allows.
        case exceedsHeadroom
        /// The data does not allow the change, for instance because a step would lose or duplicate values without the
        /// operator's permission.
        case refusedByData
        /// The deployment has no transactions, in which jobs write.
        case noTransactions
        /// The user is not allowed to read a collection that a step reads.
        case lookupUnreadable
    }

    package let kind: Kind
    /// The text of the error: what is wrong, where, and how to fix it.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Returns the error for a collection whose UUID is not the one that the job is bound to.
    /// - Parameters:
    ///   - time: a clause that says from when on the UUID had to stay the same, such as "since the job started".
    ///   - refused: what the job cannot do, as the words after "cannot", such as "continue".
    package static func anotherUUID(
        of job: String, on namespace: Namespace, _ time: String, refusing refused: String = "continue"
    ) -> RunError {
        RunError(
            .bindingChanged,
            "job \"\(job)\" cannot \(refused): \(namespace) was moved, or dropped and created again, \(time); "
                + rebinding(job)
        )
    }

    /// Returns advice for the operator of a job whose collection was moved and therefore has another UUID.
    package static func rebinding(_ job: String) -> String {
        "if it was moved (movePrimary, moveCollection, reshardCollection, a rename) and is still the same, bind the "
            + "job to it: shipshape job rebind \(job)"
    }

    /// Returns the error for a collection that a step reads and that does not exist.
    package static func lookupMissing(_ namespace: Namespace) -> RunError {
        RunError(.unknownCollection, "there is no collection \(namespace) to read from")
    }

    /// Returns the error for a run with `--ids`, which is refused while the job has an unfinished pass over the
    /// collection.
    package static func unfinished(_ job: String) -> RunError {
        RunError(
            .notDone,
            "job \"\(job)\" is unfinished, and its next run will reach these documents anyway: finish it first, "
                + "without --ids")
    }

    /// Returns the error for a command that no majority confirmed, with the work that the command did; every other
    /// error stays the same.
    package func reporting(_ work: String) -> RunError {
        guard kind == .unconfirmed else { return self }
        return RunError(kind, "\(work), not yet on a majority; \(message)")
    }

    /// Returns the error with the location of the step added to its message; the same error if `location` is `nil`.
    package func located(at location: SourceLocation?) -> RunError {
        guard let location else { return self }
        return RunError(kind, "\(location.file):\(location.line):\(location.column): \(message)")
    }
}

extension RunError: CustomStringConvertible {
    package var description: String { message }
}
