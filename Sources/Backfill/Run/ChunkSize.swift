import Jobs

/// Decides how many documents the next chunk has: as many as the limits of a chunk's bytes and time allow.
///
/// The bytes depend on the data, and the time on the server's load. Waits for the throttle, a lease or a majority do
/// not count as a chunk's time. Otherwise, a server under load would reduce the size to the minimum and keep it there.
struct ChunkSize: Hashable {
    private(set) var documents: Int
    /// Whether the size is one document, and even such a chunk exceeds the target for its bytes or its time.
    private(set) var isStuck = false
    private var maximum: Int
    private var targetBytes: Double
    private var targetTime: Duration
    private let averageSize: Int?
    /// The times of the last chunks of this size, as ratios to the target.
    private var samples: [Double] = []

    /// How many chunks of one size are measured before the size is adapted.
    ///
    /// If one chunk takes far too long, the size is adapted at once.
    private static let window = 11
    /// The size of the first chunk, if the limits of documents and bytes allow it.
    private static let start = 20_000
    private static let maximumGrowth = 1.5
    /// If a chunk has more than `alarm` times the bytes or the time that its limits allow, the size is divided by `cut`
    /// at once.
    private static let (alarm, cut) = (5.0, 10)

    /// Starts with as many documents of average size as the limits of a chunk allow, but at most ``start``.
    ///
    /// - Parameter averageSize: the average size of a document in bytes; `nil` if the server does not report it.
    init(_ limits: Job.Limits, averageSize: Int?) {
        self.averageSize = averageSize
        maximum = limits.mostDocuments
        (targetBytes, targetTime) = (Double(limits.mostBytes), limits.chunkTime)
        let byBytes = averageSize.map { max(1, limits.mostBytes / max(1, $0)) } ?? Self.start
        documents = min(maximum, byBytes, Self.start)
    }

    /// Applies limits that an operator changed.
    ///
    /// A lower limit of documents applies at once. The limits of bytes and time apply when the size is next adapted to
    /// the chunks that were processed.
    mutating func adopt(_ limits: Job.Limits) {
        maximum = limits.mostDocuments
        (targetBytes, targetTime) = (Double(limits.mostBytes), limits.chunkTime)
        set(min(documents, maximum))
    }

    /// Halves the size after a chunk ran into the server's time limit.
    mutating func shrink() { set(max(1, documents / 2)) }

    /// Adapts the size to a chunk that was processed, even one in which no document needed a change.
    /// - Parameters:
    ///   - size: how many documents the chunk had; a chunk of another size than the current one is ignored.
    ///   - time: the time of the server's work, without waits.
    mutating func learn(from size: Int, time: Duration) {
        guard size == documents else { return }
        let bytes = Double(size) * Double(averageSize ?? 0) / targetBytes
        let time = time / targetTime
        if max(bytes, time) > Self.alarm {
            isStuck = documents == 1
            return set(max(least(bytes: bytes, time: time), documents / Self.cut))
        }
        samples.append(time)
        guard samples.count == Self.window else { return }
        // The tenth of eleven samples in ascending order is taken, so that one outlier has no effect.
        let share = max(bytes, samples.sorted()[(samples.count * 9) / 10])
        isStuck = documents == 1 && share > 1
        let factor = share > 0 ? min(1 / share, Self.maximumGrowth) : Self.maximumGrowth
        // The size grows by at least one document, because rounding would keep a size of a few documents the same.
        let grown =
            factor > 1 ? max((Double(documents) * factor).rounded(), Double(documents + 1)) : Double(documents) * factor
        let least = least(bytes: bytes, time: share)
        set(max(factor < 1 ? least : 1, min(maximum, Int(grown))))
    }

    /// The size below which the time alone does not make chunks smaller, because each chunk costs a few round trips.
    private static let leastByTime = 100

    /// The ratio to the target time above which even such a chunk is made smaller.
    private static let far = 50.0

    /// Returns the least size after a chunk took too long, or has too many bytes, from the ratios to the targets.
    private func least(bytes: Double, time: Double) -> Int {
        bytes > 1 || time > Self.far ? 1 : min(documents, Self.leastByTime)
    }

    private mutating func set(_ size: Int) {
        documents = size
        samples = []
    }
}
