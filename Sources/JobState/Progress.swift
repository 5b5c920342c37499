package import BSON

/// How far a range is.
package struct Progress {
    /// Counts the rounds over the collection; 0 before the first.
    package var pass: Int
    /// Documents that this round has done: about as many, for operators to see.
    package var walked: Int
    /// Chunks of all runs.
    package var chunks: Int
    /// Documents that those chunks changed; a chunk that was written and not checkpointed is not in it.
    package var modified: Int
    /// The `_id` of the last document that was done in this round: for who looks, as nothing goes on from there.
    package private(set) var last: BSONValue?
    /// Set while a round is under way.
    private var upper: BSONValue?

    /// Whether a round was begun and not ended.
    package var isOpen: Bool { upper != nil }

    /// A round begins.
    package mutating func begin() { (pass, walked, last, upper) = (pass + 1, 0, nil, .maxKey) }

    /// A round ends.
    package mutating func end() { (walked, last, upper) = (0, nil, nil) }

    /// A chunk was done.
    package mutating func add(documents: Int, modified: Int, last: BSONValue?) {
        walked += documents
        chunks += 1
        self.modified += modified
        if isOpen { self.last = last }
    }

    package init(_ document: BSONDocument) {
        pass = document["pass"]?.integer ?? 0
        walked = document["walked"]?.integer ?? 0
        chunks = document["chunks"]?.integer ?? 0
        modified = document["modified"]?.integer ?? 0
        last = document["last"]?.document?["v"]
        upper = document["upper"]?.document?["v"]
    }
}
