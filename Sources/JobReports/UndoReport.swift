package import BSON
package import Running

/// The result of an undo, or of its dry run: the changes that it undid, and the documents that it skipped.
package struct UndoReport: Sendable {
    /// The reason why a change is not undone.
    package enum Reason: String, Sendable, CaseIterable {
        /// Another client changed a field after the job had written it; the job's other changes of the document are
        /// undone.
        case changed
        /// The document with the change no longer exists.
        case gone
        /// The sync translator is writing the document, or left a lock in it.
        case locked
        /// Another document has the same `_id` now, although the fields that the job wrote look as the job left them.
        case replaced
        /// The server refuses the document with the fields that it had before the job.
        case refused

        /// Whether the operator has to deal with the document, and a later undo tries it again; `false` only for a
        /// document that no longer exists.
        package var isTrouble: Bool { self != .gone }
    }

    /// The reason why a document is skipped, and the server's error code.
    package struct LeftDocument: Hashable, Sendable {
        package var reason: Reason
        /// The server's error code; `nil` unless the server refused to restore the document.
        package var code: Int?

        package init(reason: Reason, code: Int? = nil) { (self.reason, self.code) = (reason, code) }
    }

    /// The documents that are skipped for one reason.
    package struct Skipped: Sendable {
        package var left: LeftDocument
        /// The `_id`s of the first thousand documents that are skipped for this reason.
        package var ids: [BSONValue]
        package var count: Int

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
        /// The job file of another job names the collection, so that job may rely on the inserted document.
        case shared
        /// The server refuses to remove the inserted document, or the document is too large to be compared in a
        /// command.
        case refused
    }

    /// Documents that the job inserted in another collection, and that stay there for one reason.
    package struct LeftChildren: Sendable, Hashable {
        package var namespace: Namespace
        package var reason: ChildReason
        /// The `_id`s of the first thousand documents that stay.
        package var ids: [BSONValue] = []
        package var count = 0

        package init(namespace: Namespace, reason: ChildReason) {
            (self.namespace, self.reason) = (namespace, reason)
        }
    }

    /// The counts of the documents that the job inserted in other collections.
    package struct Children: Sendable, Hashable {
        /// The number of inserted documents that this undo removed, or would remove.
        package var removed = 0
        /// The number of inserted documents that earlier undos removed before they stopped.
        package var earlier = 0
        /// The number of inserted documents that no longer existed when the undo reached them.
        package var gone = 0
        /// The inserted documents that the undo leaves in their collections.
        package var left: [LeftChildren] = []

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

    /// The numbers of chunks and changes in the job's journal, and the number of chunks that are missing from it.
    package struct Journal: Sendable {
        /// The number of chunks in the journal; a chunk counts once for each attempt to write it.
        package var chunks = 0
        /// The number of changes in the journal; a document can have several changes, for example one for each phase of
        /// the job.
        package var changes = 0
        /// How many chunks are missing from the journal; their changes are not undone.
        package var missing = 0
        /// How many chunks the journal should have.
        package var attempts = 0
    }

    /// The numbers of changes that this undo and earlier undos of the job undid, or would undo.
    package struct Taken: Sendable {
        /// The number of changes that this undo undid, or would undo.
        package var restored = 0
        /// The number of changes that earlier undos of the job undid before they stopped.
        package var earlier = 0
        /// The number of changes with nothing to undo, because the document is as it was before the job.
        ///
        /// For example, another client restored the document.
        package var asBefore = 0
    }

    package var job: String
    package var namespace: Namespace
    package var outcome: Outcome
    package var journal = Journal()
    /// Whether the documents were compared with the journal, so that the counts of documents are known.
    ///
    /// The value is `false` only for the plan of an undo whose operator is not asked.
    package var isCounted = true
    package var taken = Taken()
    /// The skipped documents, as one group for each reason.
    package var skipped: [Skipped] = []
    /// The counts of the documents that the job inserted in other collections; `nil` if the job inserted none.
    package var children: Children?
    /// How many documents sync under the active schema now, but would not sync after the undo; `nil` if the undo did
    /// not check this.
    package var madeUnsyncable: Int?
    /// The counts that show how many more documents may become unsyncable before a job has to stop; `nil` if the undo
    /// did not check which documents it makes unsyncable.
    package var headroom: Headroom?
    /// The reason for which an undo would be refused; `nil` if an undo would not be refused.
    ///
    /// Only a dry run sets this property.
    package var refusal: String?
    /// Notes for the operator about facts that the other properties do not show.
    package var notes: [String] = []
    package var seconds = 0.0

    package init(job: String, namespace: Namespace, outcome: Outcome) {
        (self.job, self.namespace, self.outcome) = (job, namespace, outcome)
    }

    /// Whether the undo leaves something for the operator to deal with.
    ///
    /// The value is `true` if an existing document was skipped, an inserted document stays, the journal lacks a chunk,
    /// or the undo would be refused. It is `false` for a stopped undo, because the next undo continues.
    package var hasFindings: Bool {
        if case .stopped = outcome { return false }
        return skipped.contains { $0.left.reason.isTrouble && $0.count > 0 } || journal.missing > 0 || refusal != nil
            || children?.left.isEmpty == false
    }
}
