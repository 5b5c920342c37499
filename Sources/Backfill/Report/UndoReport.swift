package import BSON
package import Running

/// The result of an undo, or of its dry run: the changes that it undid, and the documents that it skipped.
package struct UndoReport: Sendable {
    /// Why a change is not undone.
    package enum Reason: String, Sendable, CaseIterable {
        /// Another client changed a field after the job had written it.
        case changed
        /// The document is no longer there.
        case gone
        /// The sync translator is writing the document, or left a lock in it.
        case locked
        /// It looks as the job would have left it, but it is uncertain whether the job wrote it: the write was not
        /// acknowledged, or another document has the `_id` by now.
        case uncertain
        /// The server refuses the document as it was before the job.
        case refused

        /// Whether the operator has to see to such a document; one that is gone needs nothing.
        package var isTrouble: Bool { self != .gone }
        /// Whether a further undo may succeed.
        func isPassing(includingUncertain: Bool) -> Bool {
            self == .locked || self == .refused || (includingUncertain && self == .uncertain)
        }
    }

    /// Why a document is skipped.
    package struct LeftDocument: Hashable, Sendable {
        /// The reason.
        package var reason: Reason
        /// The server's code, if it refused the document.
        package var code: Int?
    }

    /// The documents that are skipped for one reason.
    package struct LeftAlone: Sendable {
        /// The reason, with the server's code.
        package var left: LeftDocument
        /// The `_id`s of the first thousand; a dry run after an earlier undo may list twice as many.
        package var ids: [BSONValue]
        /// How many there are.
        package var count: Int
    }

    /// Why a document that the job inserted in another collection stays there.
    package enum ChildReason: String, Sendable, CaseIterable {
        /// Another client changed it since.
        case changed
        /// A document of the job's collection may link to it.
        case linked
        /// Another job names the collection, and may rely on the document.
        case shared
        /// The server does not remove it, or it is too large to be compared in a command.
        case refused
    }

    /// Documents that the job inserted in another collection, and that stay there for one reason.
    package struct LeftChildren: Sendable, Hashable {
        /// The collection.
        package var namespace: Namespace
        /// The reason.
        package var reason: ChildReason
        /// The `_id`s of the first thousand.
        package var ids: [BSONValue] = []
        /// How many there are.
        package var count = 0
    }

    /// The counts of the documents that the job inserted in other collections.
    package struct Children: Sendable, Hashable {
        /// Documents that this undo removed, or would remove.
        package var removed = 0
        /// Documents that earlier, stopped undos of the job removed.
        package var earlier = 0
        /// Documents that no longer exist.
        package var gone = 0
        /// The documents that stay.
        package var left: [LeftChildren] = []
    }

    /// How an undo ended.
    package enum Outcome: Sendable, Hashable {
        /// A dry run: nothing was written.
        case dryRun
        /// An earlier undo had undone the job.
        case undoneBefore
        /// All changes that could be undone were undone.
        case done
        /// Stopped between two batches; the next undo continues from there.
        case stopped(RunStop)

        /// Why it stopped; `nil` if it did not.
        package var stop: RunStop? { if case .stopped(let stop) = self { stop } else { nil } }
    }

    /// The contents of a job's journal.
    package struct Journal: Sendable {
        /// Chunks in the journal.
        package var chunks = 0
        /// Changes of documents in the journal; in a job of several phases, a document may have more than one.
        package var changes = 0
        /// Chunks that the journal should hold, and does not; their changes are not undone.
        package var missing = 0
        /// Chunks that the journal should hold.
        package var attempts = 0
    }

    /// The changes that the undos of a job undid, or would undo.
    package struct Taken: Sendable {
        /// Changes that this undo undid, or would undo.
        package var restored = 0
        /// Changes that earlier, stopped undos of the job undid.
        package var earlier = 0
        /// Changes that were undone before, or were never written.
        package var asBefore = 0
        /// Uncertain changes that are undone all the same, as the operator asked.
        package var included: (ids: [BSONValue], count: Int) = ([], 0)
    }

    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// How it ended.
    package var outcome: Outcome
    /// The contents of the journal.
    package var journal = Journal()
    /// The changes that were undone, or would be.
    package var taken = Taken()
    /// The documents that are skipped.
    package var leftAlone: [LeftAlone] = []
    /// The documents that the job inserted in other collections; `nil` if there are none.
    package var children: Children?
    /// Documents that an earlier version of the program changed without a journal, as far as it knew; there are none
    /// since writes name the documents of their journal.
    package var unjournaled = 0
    /// Documents that sync under the active schema and would not as they were before the job; `nil` if not judged.
    package var harm: Int?
    /// The state of the budget; `nil` if not judged.
    package var headroom: Headroom?
    /// Why an undo would be refused; a dry run reports it, and an undo throws it.
    package var refusal: String?
    /// Further notes for the operator.
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
