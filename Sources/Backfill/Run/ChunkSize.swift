import Jobs

/// How many documents the next chunk has: as many as the bytes and the time of a chunk allow.
///
/// Bytes belong to the data and time to the load: by time alone a server under pressure would drive the size to the floor
/// and keep it there. Time that was waited, while throttled, for a lease or for a majority, is not a chunk's time.
struct ChunkSize: Hashable {
    /// What one chunk took of a target.
    struct Cost: Hashable {
        /// Bytes of the documents that were processed over.
        var bytes: Double
        /// The server's work, without waiting.
        var time: Duration
    }

    /// The documents of the next chunk.
    private(set) var documents: Int
    /// Whether the size has come down to one document and that still takes more than the target; told once.
    private(set) var isStuck = false
    private var maximum: Int
    private var targetBytes: Double
    private var targetTime: Duration
    private let averageSize: Int?
    private var samples: [Cost] = []

    /// Chunks of one size that are looked at before the size changes.
    private static let window = 11
    /// The size of the first chunk, unless the cap or the bytes say less.
    private static let start = 20_000
    private static let maximumGrowth = 1.5
    /// From how many times a target on the size falls at once, and to which part of it.
    private static let (alarm, cut) = (5.0, 10)

    /// Starts where the average document's bytes allow it; `averageSize` is `nil` where the server does not tell.
    init(_ limits: Job.Limits, averageSize: Int?) {
        self.averageSize = averageSize
        maximum = limits.chunkDocuments
        (targetBytes, targetTime) = (Double(limits.chunkBytes), limits.chunkTime)
        let byBytes = averageSize.map { max(1, limits.chunkBytes / max(1, $0)) } ?? Self.start
        documents = min(maximum, byBytes, Self.start)
    }

    /// Takes over limits that changed: a lower cap at once, the rest with the chunks to come.
    mutating func adopt(_ limits: Job.Limits) {
        maximum = limits.chunkDocuments
        (targetBytes, targetTime) = (Double(limits.chunkBytes), limits.chunkTime)
        set(min(documents, maximum))
    }

    /// Whether a chunk can still be made smaller.
    var canShrink: Bool { documents > 1 }

    /// Halves the chunk, for one that ran into the server's time limit.
    mutating func shrink() { set(max(1, documents / 2)) }

    /// Learns from a chunk that was processed, one without anything to do too.
    /// - Parameters:
    ///   - size: the documents that it had; feedback of a chunk of another size is ignored.
    ///   - bytes: of its documents, where they were read; else the average document's count.
    mutating func learn(from size: Int, time: Duration, bytes: Int? = nil) {
        guard size == documents else { return }
        let bytes = bytes.map(Double.init) ?? Double(size) * Double(averageSize ?? 0)
        let cost = Cost(bytes: bytes, time: time)
        if share(cost) > Self.alarm {
            isStuck = documents == 1
            return set(max(1, documents / Self.cut))
        }
        samples.append(cost)
        guard samples.count == Self.window else { return }
        let share = max(
            Self.p90(samples.map { $0.bytes / targetBytes }), Self.p90(samples.map { $0.time / targetTime }))
        isStuck = documents == 1 && share > 1
        let factor = share > 0 ? min(1 / share, Self.maximumGrowth) : Self.maximumGrowth
        // A size of a few documents grows too.
        let grown =
            factor > 1 ? max((Double(documents) * factor).rounded(), Double(documents + 1)) : Double(documents) * factor
        set(max(1, min(maximum, Int(grown))))
    }

    /// The larger of the two parts that a chunk took of its targets.
    private func share(_ cost: Cost) -> Double { max(cost.bytes / targetBytes, cost.time / targetTime) }

    private mutating func set(_ size: Int) {
        documents = size
        samples = []
    }

    private static func p90(_ values: [Double]) -> Double {
        // Of eleven the tenth: one outlier says nothing.
        values.sorted()[(values.count * 9) / 10]
    }
}
