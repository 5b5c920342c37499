package import BSON
package import Running

/// What an undo took back, or would take back, and what it left alone.
package struct UndoReport: Sendable {
    /// Why a change is not taken back.
    package enum Reason: String, Sendable, CaseIterable {
        /// Somebody changed a field since that the job had written.
        case changed
        /// The document is no longer there.
        case gone
        /// A write of the sync translator is under way in it, or was left over.
        case locked
        /// It looks as the job would have left it, and nobody knows that it was the job: the write was not acknowledged, or
        /// the document is another one by now.
        case uncertain
        /// The server refuses the document as it was.
        case refused

        /// Whether the operator has to see to such a document; of one that is gone nothing is left to see to.
        package var isTrouble: Bool { self != .gone }
        /// Whether a further undo may succeed.
        func isPassing(includingUncertain: Bool) -> Bool {
            self == .locked || self == .refused || (includingUncertain && self == .uncertain)
        }
    }

    /// A document that is left alone.
    package struct LeftDocument: Hashable, Sendable {
        /// Why.
        package var reason: Reason
        /// The server's code, where it refused.
        package var code: Int?
    }

    /// The documents that are left alone for one reason.
    package struct LeftAlone: Sendable {
        /// Why.
        package var left: LeftDocument
        /// Their `_id`s: all of a real undo, the first thousand of a dry run.
        package var ids: [BSONValue]
        /// How many.
        package var count: Int
    }

    /// Why a document that the job made in another collection stays there.
    package enum ChildReason: String, Sendable, CaseIterable {
        /// Somebody changed it since.
        case changed
        /// A document of the job's collection may link to it.
        case linked
        /// Another job names the collection, and may count on the document.
        case shared
        /// The server does not remove it, or it is too large to be compared in a command.
        case refused
    }

    /// Documents that the job made in another collection, and that stay there for one reason.
    package struct LeftChildren: Sendable, Hashable {
        /// The collection.
        package var namespace: Namespace
        /// Why.
        package var reason: ChildReason
        /// The `_id`s of the first thousand.
        package var ids: [BSONValue] = []
        /// How many.
        package var count = 0
    }

    /// What became of the documents that the job made in other collections.
    package struct Children: Sendable, Hashable {
        /// Removed by this undo, or to be removed.
        package var removed = 0
        /// Removed by earlier, stopped undos of the job.
        package var earlier = 0
        /// No longer there.
        package var gone = 0
        /// What stays.
        package var left: [LeftChildren] = []
    }

    /// How an undo came to its end.
    package enum Outcome: Sendable, Hashable {
        /// A dry run: nothing was written.
        case dryRun
        /// It was undone before.
        case undoneBefore
        /// Everything that could be taken back was taken back.
        case done
        /// Stopped between two batches; the next undo goes on from there.
        case stopped(RunStop)

        /// Why it stopped; `nil` where it did not.
        package var stop: RunStop? { if case .stopped(let stop) = self { stop } else { nil } }
    }

    /// What the journal of a job holds.
    package struct Journal: Sendable {
        /// Chunks in the journal.
        package var chunks = 0
        /// Changes of documents in the journal: of a job of several phases more than one for a document.
        package var changes = 0
        /// Chunks that the journal should hold, and does not: what they changed is not taken back.
        package var missing = 0
        /// All chunks that it should hold.
        package var attempts = 0
    }

    /// What undos of a job took back, or would.
    package struct Taken: Sendable {
        /// Changes that this undo took back, or would take back.
        package var restored = 0
        /// Changes that earlier, stopped undos of the job took back.
        package var earlier = 0
        /// Changes that were taken back already, or were never written.
        package var asBefore = 0
        /// What is uncertain and is taken back all the same, as the operator asked.
        package var included: (ids: [BSONValue], count: Int) = ([], 0)
    }

    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// How it ended.
    package var outcome: Outcome
    /// What the journal holds.
    package var journal = Journal()
    /// What was taken back, or would be.
    package var taken = Taken()
    /// What is left alone.
    package var leftAlone: [LeftAlone] = []
    /// The documents that the job made in other collections; `nil` where it made none.
    package var children: Children?
    /// Documents that an earlier version of the program changed without a journal, as far as it knew: none since writes name
    /// the documents of their journal.
    package var unjournaled = 0
    /// Documents that sync under the active schema and do not as they were; `nil` when that is not judged.
    package var harm: Int?
    /// How close to the limit it comes.
    package var headroom: Headroom?
    /// Why an undo would be refused; a dry run shows it, where an undo throws it.
    package var refusal: String?
    /// What the operator should know besides.
    package var notes: [String] = []
    /// How long it took, in seconds.
    package var seconds = 0.0

    /// Whether documents remain that need the operator.
    package var hasFindings: Bool {
        if case .stopped = outcome { return false }
        return leftAlone.contains { $0.left.reason.isTrouble && $0.count > 0 } || unjournaled > 0 || journal.missing > 0
            || refusal != nil
            || children?.left.isEmpty == false
    }
}
