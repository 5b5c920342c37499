package import BSON

/// How far a range has come.
package struct Progress {
    /// The number of passes over the collection that were begun; 0 before the first.
    package var pass: Int
    /// The number of documents that this pass has done: approximate, for display.
    package var processed: Int
    /// The number of chunks of all runs.
    package var chunks: Int
    /// The number of documents that those chunks changed; a chunk without a checkpoint does not count.
    package var modified: Int
    /// The number of the last attempt in the journal that a checkpoint recorded.
    package var journaled: Int64
    /// The `_id` of the last document done in this pass: only for display, because no run resumes from it.
    package private(set) var last: BSONValue?
    /// Not `nil` while a pass is open.
    private var upper: BSONValue?

    /// Whether a pass was begun and has not ended.
    package var isOpen: Bool { upper != nil }

    /// Begins a pass.
    package mutating func begin() { (pass, processed, last, upper) = (pass + 1, 0, nil, .maxKey) }

    /// Ends a pass.
    package mutating func end() { (processed, last, upper) = (0, nil, nil) }

    /// Adds a finished chunk.
    package mutating func add(documents: Int, modified: Int, last: BSONValue?) {
        processed += documents
        chunks += 1
        self.modified += modified
        if isOpen { self.last = last }
    }

    /// Reads the progress from the range's record.
    package init(_ document: BSONDocument) {
        pass = document["pass"]?.integer ?? 0
        processed = document["walked"]?.integer ?? 0
        chunks = document["chunks"]?.integer ?? 0
        modified = document["modified"]?.integer ?? 0
        journaled = document["journaled"]?.integer.map { Int64($0) } ?? 0
        last = document["last"]?.document?["v"]
        upper = document["upper"]?.document?["v"]
    }
}
