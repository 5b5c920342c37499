package import BSON

/// How far a job has come, as its record in the collection `ranges` shows.
package struct Progress: Sendable {
    /// The number of passes over the collection that were begun; 0 before the first pass.
    package var pass: Int
    /// About how many documents the current pass has processed; for display only.
    package var processed: Int
    /// The number of chunks that the runs of the job have finished, in all passes together.
    package var chunks: Int
    /// The number of documents that the finished chunks changed; chunks without a checkpoint are not included.
    package var modified: Int
    /// The number of changes that the finished chunks made; a document counts once for each phase that changed it.
    package var updates: Int
    /// The number of chunks that the journal got; a chunk that changed nothing is not in the journal.
    package var journaled: Int
    /// The `_id` of the last document that the current pass processed; for display only, because no run resumes from
    /// it.
    package private(set) var last: BSONValue?
    /// A text that names the limit which determines the run's speed, such as a throttle rule; `nil` while it is
    /// unknown.
    package var bound: String?
    /// The field `upper` of the record: `maxKey` while a pass is open, otherwise `nil`.
    private var upper: BSONValue?

    /// Whether a pass was begun and has not ended.
    package var isOpen: Bool { upper != nil }

    package mutating func begin() { (pass, processed, last, upper) = (pass + 1, 0, nil, .maxKey) }

    package mutating func end() { (processed, last, upper) = (0, nil, nil) }

    /// The counts of a finished chunk, which its checkpoint adds to the job's record.
    package struct Chunk: Sendable {
        /// The number of documents that went through the last phase.
        package var documents = 0
        package var modified = 0
        package var updates = 0
        /// The number of chunks in the journal: 1, or 0 without a journal.
        package var journaled = 0
        /// The `_id` of the last document.
        package var last: BSONValue?

        package init() {}
    }

    package mutating func add(_ chunk: Chunk) {
        processed += chunk.documents
        chunks += 1
        modified += chunk.modified
        updates += chunk.updates
        journaled += chunk.journaled
        if isOpen { last = chunk.last }
    }

    /// Reads the progress from a job's record in the collection `ranges`.
    package init(_ document: BSONDocument) {
        pass = document["pass"]?.integer ?? 0
        processed = document["walked"]?.integer ?? 0
        chunks = document["chunks"]?.integer ?? 0
        modified = document["modified"]?.integer ?? 0
        updates = document["updates"]?.integer ?? 0
        journaled = document["journaled"]?.integer ?? 0
        bound = document["bound"]?.text
        last = document["last"]?.document?["v"]
        upper = document["upper"]?.document?["v"]
    }
}
