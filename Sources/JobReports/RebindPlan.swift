package import BSON

/// The comparison of a job's journal with the job's collection, after the collection's UUID has changed.
package struct RebindPlan: Sendable {
    package let job: String
    package let namespace: Namespace
    /// The UUID of the collection to which the job is bound.
    package let was: BSONValue
    /// The UUID of the collection that exists now under the job's namespace.
    package let now: BSONValue
    /// The number of changes in the job's journal.
    package var changes = 0
    /// How many of ``changes`` belong to documents that exist and are the same documents that the job changed.
    package var same = 0
    /// How many of ``changes`` belong to documents that do not exist.
    package var gone = 0
    /// How many of ``changes`` belong to documents that another document with the same `_id` has replaced.
    package var others = 0
    /// Whether the collection still has the document that the job's last checkpoint names.
    ///
    /// The value is `nil` if ``changes`` is not 0, because the journal then decides, or if no checkpoint names a
    /// document.
    package var hasLast: Bool?

    package init(job: String, namespace: Namespace, was: BSONValue, now: BSONValue) {
        (self.job, self.namespace, self.was, self.now) = (job, namespace, was, now)
    }

    /// How many of ``changes`` belong to documents that exist, but cannot be identified.
    ///
    /// It is unknown whether the job changed these documents, or earlier documents with the same `_id`s.
    package var unidentified: Int { changes - same - gone - others }

    /// Whether the collection is probably not the one that the job changed: ``gone`` and ``others`` together exceed
    /// ``same``.
    ///
    /// Users delete some documents, but not most of them at once.
    package var isAnother: Bool { (gone + others) * 2 > changes - unidentified }
}
