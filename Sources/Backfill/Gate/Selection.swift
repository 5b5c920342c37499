import BSON

/// The documents of a chunk that the gate lets the writer change.
struct Selection {
    /// Those that are recorded: all steps run on them.
    private(set) var counted: [BSONValue] = []
    /// Those of ``counted`` that sync and will not.
    private(set) var harmful: Set<BSONValue> = []
    /// Those of ``counted`` that the job does no harm as of now.
    var atRisk: [BSONValue] { counted.filter { !harmful.contains($0) } }
    /// Those on which only the harmless steps run.
    private(set) var harmless: [BSONValue] = []

    /// Adds a document.
    mutating func add(_ id: BSONValue, _ judgement: Judgement) {
        if judgement.isCounted { counted.append(id) } else { harmless.append(id) }
        if judgement == .harmful { harmful.insert(id) }
    }
}
