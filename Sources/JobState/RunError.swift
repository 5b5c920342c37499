package import BSON
package import ServerSchema

/// Why a job cannot run, or cannot go on.
package struct RunError: Error, Hashable, Sendable {
    /// The kinds, each with an exit code of its own.
    package enum Kind: Sendable, Hashable {
        /// The job file, a schema or the collection is not the one that the job was started with.
        case bindingChanged
        /// No job of that name was begun.
        case unknownJob
        /// The job is not done, and has to be for that.
        case notDone
        /// An operator asked the job to wait.
        case paused
        /// The job waits for the deploy of its next schema, and no deploy is recorded.
        case notDeployed
        /// The collection does not exist.
        case unknownCollection
        /// The namespace is a view or a time series.
        case unsupportedCollection
        /// What the state database holds was written by another version of the program, or is gone.
        case checkpointUnreadable
        /// The steps undo each other: some documents would need the job again after it.
        case notIdempotent
        /// A step does not fit the schemas, or the collection's own validator or a unique index of it.
        case schemaMismatch
        /// Another runner holds the job.
        case leaseHeld
        /// Another runner took the job over while this one was stopped.
        case leaseLost
        /// A signal asked to stop while the run waited for something.
        case stopped
        /// There is no room for the journal of the next chunk.
        case journalFull
        /// The job cannot be undone, or was, or is being undone.
        case undoRefused
        /// The job would make more documents unsyncable than the limit has room for.
        case harmExceedsHeadroom
        /// What a step would lose or double stands against it, and the job does not accept it.
        case refusedByData
        /// A collection that a step reads may not be read.
        case lookupUnreadable
    }

    /// The kind.
    package let kind: Kind
    /// What, where, and how to mend it.
    package let message: String

    /// Joins the two.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

extension RunError {
    /// The collection of that name has another UUID than the job is bound to.
    /// - Parameters:
    ///   - time: since when it has.
    ///   - refused: what the job cannot do.
    package static func anotherUUID(
        of job: String, on namespace: Namespace, _ time: String, refusing refused: String = "go on"
    ) -> RunError {
        RunError(
            .bindingChanged,
            "job \"\(job)\" cannot \(refused): \(namespace) was dropped and created anew \(time), or moved; \(rebinding(job))"
        )
    }

    /// How to go on where a collection has another UUID and is the same.
    package static func rebinding(_ job: String) -> String {
        "if it was moved (movePrimary, moveCollection, reshardCollection, a rename) and is the same still, bind the job to it: "
            + "shipshape rebind \(job)"
    }

    /// A collection that a step reads is not there.
    package static func lookupMissing(_ namespace: Namespace) -> RunError {
        RunError(.unknownCollection, "there is no collection \(namespace) to read from")
    }

    /// A pass is open, which a list would come in the way of.
    package static func unfinished(_ job: String) -> RunError {
        RunError(
            .notDone,
            "job \"\(job)\" is half done, and its next run comes to these documents by itself: end it first, "
                + "without --ids")
    }

    /// The error with the place of the step that it is about.
    package func located(at location: SourceLocation?) -> RunError {
        guard let location else { return self }
        return RunError(kind, "\(location.file):\(location.line):\(location.column): \(message)")
    }
}

extension RunError: CustomStringConvertible {
    /// The message.
    package var description: String { message }
}
