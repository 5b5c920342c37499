import BSON
import Following

/// A mirror's reads from the change streams of the original and the partner collection, with the positions after each
/// read.
///
/// One read takes the pending changes of both streams.
struct StreamReads {
    /// The positions in the two change streams after a read.
    struct Snapshot {
        fileprivate let read: Int
        let places: [PartnerSide: FeedPlace]
        let times: [PartnerSide: ClusterTime]
    }

    /// The number of the latest read from the change streams, counted from 1.
    private(set) var latest = 0
    private var snapshots: [Snapshot] = []

    mutating func begin() { latest += 1 }

    /// Stores the positions in the change streams after a read.
    /// - Parameter oldest: the number of the oldest read with a change that is not carried over yet; `nil` if all
    ///   changes are carried over.
    mutating func end(with sides: [PartnerSide: MirrorRun.Side], waitingSince oldest: Int?) {
        snapshots.append(
            Snapshot(read: latest, places: sides.compactMapValues(\.place), times: sides.mapValues(\.time)))
        if snapshots.count > 64 { compact(oldest) }
    }

    /// Returns the latest positions up to which all changes are carried over; `nil` if there are none yet.
    /// - Parameter oldest: the number of the oldest read with a change that is not carried over yet; `nil` if all
    ///   changes are carried over.
    mutating func done(before oldest: Int?) -> Snapshot? {
        compact(oldest)
        return snapshots.first.flatMap { $0.read < oldest ?? .max ? $0 : nil }
    }

    private mutating func compact(_ oldest: Int?) {
        guard let last = snapshots.lastIndex(where: { $0.read < oldest ?? .max }) else {
            // All snapshots are later than the oldest change that is not carried over yet, so no position can be saved
            // now.
            return
        }
        snapshots.removeFirst(last)
    }
}

/// The measurements of how far a mirror lags behind the changes of clients.
struct MirrorLag {
    /// The deployment's time when the lag was last computed.
    ///
    /// A stream lags if it has not reported all changes up to this time.
    var known = ClusterTime(rawValue: 0)
    /// The times from a change until it was carried over, in milliseconds, for the latest 20,000 changes at most.
    private var samples: [Int] = []
    private var next = 0

    private static let maximum = 20_000

    mutating func add(_ time: ChangeTime, at now: Int64) {
        guard let wall = time.wall else { return }
        let delay = Int(max(0, now - wall))
        if samples.count < Self.maximum {
            samples.append(delay)
        } else {
            samples[next % Self.maximum] = delay
            next += 1
        }
    }

    /// The median and the 99th percentile of the times until the latest changes were carried over, in milliseconds; 0
    /// if there are no times yet.
    var percentiles: (median: Int, percentile99: Int) {
        guard !samples.isEmpty else { return (0, 0) }
        let sorted = samples.sorted()
        return (sorted[sorted.count / 2], sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
    }
}
