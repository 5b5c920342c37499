/// How many documents the next chunk has: shrinks at once when a chunk takes too long, and grows back slowly.
struct ChunkSize: Hashable {
    /// The documents of the next chunk.
    private(set) var documents: Int
    private var maximum: Int
    private let averageSize: Int?

    /// Starts at the limits' size, by documents and by bytes.
    init(_ limits: Job.Limits, averageSize: Int?) {
        self.averageSize = averageSize
        maximum = Self.maximum(limits, averageSize)
        documents = maximum
    }

    /// Takes over limits that changed: a lower one at once, a higher one as chunks go well.
    mutating func adopt(_ limits: Job.Limits) {
        maximum = Self.maximum(limits, averageSize)
        documents = min(documents, maximum)
    }

    private static func maximum(_ limits: Job.Limits, _ averageSize: Int?) -> Int {
        let byBytes = averageSize.map { max(1, limits.chunkBytes / max(1, $0)) } ?? limits.chunkDocuments
        return min(limits.chunkDocuments, byBytes)
    }

    /// Whether a chunk can still be made smaller.
    var canShrink: Bool { documents > 1 }

    /// Halves the chunk.
    mutating func shrink() { documents = max(1, documents / 2) }

    /// Grows by a half after a chunk that went well, up to the limits' size.
    mutating func grow() { documents = min(maximum, documents + max(1, documents / 2)) }
}
