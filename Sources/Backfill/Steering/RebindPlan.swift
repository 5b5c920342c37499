package import BSON

/// A collection that has another UUID than the one that a job was started on, held against what the job knows of that.
package struct RebindPlan: Sendable {
    package let job: String
    package let namespace: Namespace
    /// The UUID that the job is bound to.
    package let was: BSONValue
    /// That of the collection which is there.
    package let now: BSONValue
    /// The changes in the job's journal.
    package internal(set) var changes = 0
    /// Of them, those of documents that are there, and are the ones that the job changed.
    package internal(set) var same = 0
    /// Those of documents that are not there.
    package internal(set) var gone = 0
    /// Those under whose `_id` another document is.
    package internal(set) var others = 0
    /// Whether the document of the last checkpoint is there; `nil` where the job has none.
    package internal(set) var hasLast: Bool?

    /// Those of documents that are there, of which nothing tells whether they are the ones.
    package var untold: Int { changes - same - gone - others }

    /// Whether most documents that can be told apart are missing or others: users delete some, and never most of them at
    /// once.
    package var isAnother: Bool { (gone + others) * 2 > changes - untold }
}
