package import BSON

/// How far a range is.
package struct Progress {
    /// Counts the passes over the collection; 0 before the first.
    package var pass: Int
    /// Documents that this pass has done: about as many, for operators to see.
    package var processed: Int
    /// Chunks of all runs.
    package var chunks: Int
    /// Documents that those chunks changed; a chunk that was written and not checkpointed is not in it.
    package var modified: Int
    /// The number of the last attempt in the journal.
    package var journaled: Int64
    /// The `_id` of the last document that was done in this pass: for who looks, as nothing goes on from there.
    package private(set) var last: BSONValue?
    /// Set while a pass is under way.
    private var upper: BSONValue?

    /// Whether a pass was begun and not ended.
    package var isOpen: Bool { upper != nil }

    /// A pass begins.
    package mutating func begin() { (pass, processed, last, upper) = (pass + 1, 0, nil, .maxKey) }

    /// A pass ends.
    package mutating func end() { (processed, last, upper) = (0, nil, nil) }

    /// A chunk was done.
    package mutating func add(documents: Int, modified: Int, last: BSONValue?) {
        processed += documents
        chunks += 1
        self.modified += modified
        if isOpen { self.last = last }
    }

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
