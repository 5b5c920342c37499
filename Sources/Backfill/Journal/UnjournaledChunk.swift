import BSON

/// A chunk that changed more documents than its journal holds.
struct UnjournaledChunk {
    /// The most that a range's record holds: the newest.
    static let most = 1_000

    /// The attempt, by its number in the journal.
    var sequence: Int64
    var phase: Int
    var chunk: IDSpan
    /// Documents that the write changed.
    var changed: Int
    /// Documents in its journal.
    var journaled: Int

    var document: BSONDocument {
        [
            "seq": .long(sequence), "phase": .integer(phase), "chunk": .object(chunk.bson),
            "changed": .integer(changed),
            "journaled": .integer(journaled),
        ]
    }
}

extension UnjournaledChunk {
    init?(_ value: BSONValue) {
        guard let document = value.document, let sequence = document["seq"]?.integer,
            let phase = document["phase"]?.integer, let chunk = document["chunk"]?.document.flatMap(IDSpan.init),
            let changed = document["changed"]?.integer, let journaled = document["journaled"]?.integer
        else { return nil }
        self.init(
            sequence: Int64(sequence), phase: phase, chunk: chunk, changed: changed, journaled: journaled)
    }
}
