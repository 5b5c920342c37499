import Jobs

/// The number of documents in the next chunk: as many as the bytes and the time of a chunk allow.
///
/// Bytes depend on the data, and time on the load. If only the time counted, a server under load would bring the size
/// down to the minimum and keep it there. Waits for the throttle, a lease or a majority do not count as a chunk's time.
struct ChunkSize: Hashable {
    /// The cost of one chunk, to be compared with the targets.
    struct Cost: Hashable {
        /// The bytes of the documents that were processed.
        var bytes: Double
        /// The time of the server's work, without waits.
        var time: Duration
    }

    /// The number of documents in the next chunk.
    private(set) var documents: Int
    /// Whether the size has come down to one document, which still takes more than the target.
    private(set) var isStuck = false
    private var maximum: Int
    private var targetBytes: Double
    private var targetTime: Duration
    private let averageSize: Int?
    private var samples: [Cost] = []

    /// How many chunks of the same size are measured before the size changes.
    private static let window = 11
    /// The size of the first chunk, unless the limits of documents or bytes allow less.
    private static let start = 20_000
    private static let maximumGrowth = 1.5
    /// If one chunk takes more than `alarm` times its target, the size is at once divided by `cut`.
    private static let (alarm, cut) = (5.0, 10)

    /// Starts with the size that the average document allows; `averageSize` is `nil` if the server does not report it.
    init(_ limits: Job.Limits, averageSize: Int?) {
        self.averageSize = averageSize
        maximum = limits.mostDocuments
        (targetBytes, targetTime) = (Double(limits.mostBytes), limits.chunkTime)
        let byBytes = averageSize.map { max(1, limits.mostBytes / max(1, $0)) } ?? Self.start
        documents = min(maximum, byBytes, Self.start)
    }

    /// Applies limits that an operator changed: a lower limit of documents at once, the others with the next chunks.
    mutating func adopt(_ limits: Job.Limits) {
        maximum = limits.mostDocuments
        (targetBytes, targetTime) = (Double(limits.mostBytes), limits.chunkTime)
        set(min(documents, maximum))
    }

    /// Whether a chunk can still be made smaller.
    var canShrink: Bool { documents > 1 }

    /// Halves the size after a chunk ran into the server's time limit.
    mutating func shrink() { set(max(1, documents / 2)) }

    /// Learns from a chunk that was processed, even one without anything to do.
    /// - Parameters:
    ///   - size: how many documents the chunk had; a chunk of another size than the current one is ignored.
    ///   - bytes: the bytes of the chunk's documents, if they were read; otherwise the average document's size counts.
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
        // At least one more, because a size of a few documents would round to the same number.
        let grown =
            factor > 1 ? max((Double(documents) * factor).rounded(), Double(documents + 1)) : Double(documents) * factor
        set(max(1, min(maximum, Int(grown))))
    }

    /// Returns which share of its target the chunk took, of bytes or of time, whichever is greater; 1 is the whole
    /// target.
    private func share(_ cost: Cost) -> Double { max(cost.bytes / targetBytes, cost.time / targetTime) }

    private mutating func set(_ size: Int) {
        documents = size
        samples = []
    }

    private static func p90(_ values: [Double]) -> Double {
        // The tenth of eleven values, so that one outlier has no effect.
        values.sorted()[(values.count * 9) / 10]
    }
}
