import BSON

/// The documents of a chunk that the gate lets the writer change.
struct Selection {
    /// Those that are recorded: all steps run on them.
    private(set) var counted: [BSONValue] = []
    /// Those on which only the harmless steps run.
    private(set) var harmless: [BSONValue] = []

    /// Adds a document.
    mutating func add(_ id: BSONValue, _ judgement: Judgement) {
        if judgement.isCounted { counted.append(id) } else { harmless.append(id) }
    }
}
