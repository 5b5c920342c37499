package import BSON
package import Running

/// The result of an undo, or of its dry run: the changes that it undid, and the documents that it skipped.
package struct UndoReport: Sendable {
    /// The reason why a change is not undone.
    package enum Reason: String, Sendable, CaseIterable {
        /// Another client changed a field after the job had written it.
        case changed
        /// The document with the change no longer exists.
        case gone
        /// The sync translator is writing the document, or left a lock in it.
        case locked
        /// The document looks as the job would have left it, but it is uncertain that the job wrote it.
        ///
        /// Either the server did not acknowledge the write, or another document has the same `_id` now.
        case uncertain
        /// The server refuses the document with the fields that it had before the job.
        case refused

        /// Whether the operator has to deal with the document; `false` only for a document that no longer exists.
        package var isTrouble: Bool { self != .gone }
        /// Whether a later undo may succeed in undoing the change.
        /// - Parameter includingUncertain: whether that undo also undoes changes that the job perhaps did not make.
        package func isPassing(includingUncertain: Bool) -> Bool {
            self == .locked || self == .refused || (includingUncertain && self == .uncertain)
        }
    }

    /// The reason why a document is skipped, and the server's error code.
    package struct LeftDocument: Hashable, Sendable {
        /// The reason why the document is skipped.
        package var reason: Reason
        /// The server's error code; `nil` unless the server refused to restore the document.
        package var code: Int?

        /// Creates a reason.
        package init(reason: Reason, code: Int? = nil) { (self.reason, self.code) = (reason, code) }
    }

    /// The documents that are skipped for one reason.
    package struct Skipped: Sendable {
        /// The reason why the documents are skipped, and the server's error code.
        package var left: LeftDocument
        /// The `_id`s of the first thousand documents.
        ///
        /// A dry run after an earlier undo may list twice as many, because it adds the documents that the earlier undo
        /// skipped.
        package var ids: [BSONValue]
        /// The number of documents that were skipped for the reason.
        package var count: Int

        /// Creates a group of skipped documents.
        package init(left: LeftDocument, ids: [BSONValue], count: Int) {
            (self.left, self.ids, self.count) = (left, ids, count)
        }
    }

    /// The reason why a document that the job inserted in another collection stays there.
    package enum ChildReason: String, Sendable, CaseIterable {
        /// Another client changed the document after the job had inserted it.
        case changed
        /// A document of the job's collection may link to the inserted document.
        case linked
        /// Another job names the collection of the inserted document, and may rely on the document.
        case shared
        /// The server refuses to remove the inserted document, or the document is too large to be compared in a
        /// command.
        case refused
    }

    /// Documents that the job inserted in another collection, and that stay there for one reason.
    package struct LeftChildren: Sendable, Hashable {
        /// The collection in which the documents stay.
        package var namespace: Namespace
        /// The reason why the undo does not remove the documents.
        package var reason: ChildReason
        /// The `_id`s of the first thousand documents that stay.
        package var ids: [BSONValue] = []
        /// The number of documents that stay for the reason.
        package var count = 0

        /// Creates a group without documents.
        package init(namespace: Namespace, reason: ChildReason) {
            (self.namespace, self.reason) = (namespace, reason)
        }
    }

    /// The counts of the documents that the job inserted in other collections.
    package struct Children: Sendable, Hashable {
        /// Inserted documents that this undo removed, or would remove.
        package var removed = 0
        /// Inserted documents that earlier, stopped undos of the job removed.
        package var earlier = 0
        /// Documents that the job inserted in other collections and that no longer exist.
        package var gone = 0
        /// The inserted documents that the undo leaves in their collections.
        package var left: [LeftChildren] = []

        /// Creates the counts; all are 0 unless given.
        package init(removed: Int = 0, earlier: Int = 0, gone: Int = 0, left: [LeftChildren] = []) {
            (self.removed, self.earlier, self.gone, self.left) = (removed, earlier, gone, left)
        }
    }

    /// How an undo ended.
    package enum Outcome: Sendable, Hashable {
        /// The undo was a dry run, and wrote nothing.
        case dryRun
        /// Nothing was done, because an earlier undo had undone the job.
        case undoneBefore
        /// All changes that could be undone were undone.
        case done
        /// The undo, or its dry run, stopped early; the next undo continues after the last checkpoint.
        case stopped(RunStop)

        /// Why the undo stopped early; `nil` if it did not.
        package var stop: RunStop? { if case .stopped(let stop) = self { stop } else { nil } }
    }

    /// The counts of the journal of a job: what it holds, and what is missing.
    package struct Journal: Sendable {
        /// The chunks in the journal; a chunk that was tried several times counts each time.
        package var chunks = 0
        /// The changes of documents in the journal; in a job of several phases, a document may have more than one.
        package var changes = 0
        /// How many chunks are missing from the journal; their changes are not undone.
        package var missing = 0
        /// How many chunks the journal should have; a chunk that was tried several times counts each time.
        package var attempts = 0
    }

    /// The changes that the undos of a job undid, or would undo.
    package struct Taken: Sendable {
        /// Changes that this undo undid, or would undo.
        package var restored = 0
        /// Changes that earlier, stopped undos of the job undid.
        package var earlier = 0
        /// Changes with nothing to undo, because the document is as it was before the job.
        ///
        /// For example, the document was restored earlier, or the job never wrote it.
        package var asBefore = 0
        /// Changes that are undone although they are uncertain, because the operator asked for that with
        /// `--include-uncertain`.
        package var included: (ids: [BSONValue], count: Int) = ([], 0)
    }

    /// The job's name.
    package var job: String
    /// The collection of the job.
    package var namespace: Namespace
    /// How the undo ended.
    package var outcome: Outcome
    /// The counts of what the job's journal contains.
    package var journal = Journal()
    /// The counts of the changes that the undos of the job undid, or would undo.
    package var taken = Taken()
    /// The documents that were skipped, by reason.
    package var skipped: [Skipped] = []
    /// The documents that the job inserted in other collections; `nil` if there are none.
    package var children: Children?
    /// How many documents an earlier version of the program changed without a journal, as far as its records show.
    ///
    /// This version writes only documents that are in the journal.
    package var unjournaled = 0
    /// How many documents sync under the active schema and would not after the undo; `nil` if the undo did not check
    /// this.
    package var madeUnsyncable: Int?
    /// The state of the unsync budget; `nil` if the undo did not check which documents it makes unsyncable.
    package var headroom: Headroom?
    /// Why an undo would be refused; only in a dry run, and `nil` if an undo would not be refused.
    package var refusal: String?
    /// Notes for the operator on facts that no other property shows.
    package var notes: [String] = []
    /// How long the undo took, in seconds.
    package var seconds = 0.0

    /// Creates a report without counts.
    package init(job: String, namespace: Namespace, outcome: Outcome) {
        (self.job, self.namespace, self.outcome) = (job, namespace, outcome)
    }

    /// Whether the undo leaves something for the operator to deal with.
    ///
    /// This can be a skipped document that still exists, an inserted document that stays, a change without a journal, a
    /// chunk that the journal lacks, or a refusal. `false` for a stopped undo, because the next undo continues.
    package var hasFindings: Bool {
        if case .stopped = outcome { return false }
        return skipped.contains { $0.left.reason.isTrouble && $0.count > 0 } || unjournaled > 0 || journal.missing > 0
            || refusal != nil
            || children?.left.isEmpty == false
    }
}
