package import BSON

/// Chooses documents at random from a stream of unknown length, each with the same probability.
///
/// Source: Vitter, "Random sampling with a reservoir", 1985, algorithm R. The numbers are those of SplitMix64 (Steele,
/// Lea, Flood, 2014), so that a seed gives the same sample of the same stream on every machine.
package struct Reservoir: Sendable {
    /// The documents that are chosen so far.
    package private(set) var documents: [BSONDocument] = []
    /// The total size of the chosen documents in bytes.
    package private(set) var byteCount = 0

    private let capacity: Int
    private var seen = 0
    private var state: UInt64

    /// Creates an empty reservoir.
    /// - Parameters:
    ///   - capacity: the largest number of documents to choose.
    ///   - seed: the number that determines the choice, together with the order of the documents.
    package init(capacity: Int, seed: UInt64) {
        self.capacity = capacity
        state = seed
    }

    /// Receives the next document of the stream; once the reservoir is full, chance decides whether to keep it.
    package mutating func add(_ document: borrowing BSONView) {
        seen += 1
        if documents.count < capacity {
            documents.append(BSONDocument(copying: document))
            byteCount += document.byteCount
            return
        }
        let place = Int(next() % UInt64(seen))
        guard place < capacity else { return }
        byteCount += document.byteCount - documents[place].bytes.count
        documents[place] = BSONDocument(copying: document)
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
