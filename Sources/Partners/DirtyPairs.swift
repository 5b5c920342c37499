import BSON
import Following

/// The pairs that changed and are not seen to yet, in the order of their first change.
struct DirtyPairs {
    /// A pair that changed.
    struct Pair {
        /// When each side changed last, as far as the changes tell.
        var times: [PartnerSide: ChangeTime] = [:]
        /// Whether nobody knows which side changed, so that nothing is taken for deleted.
        var isUnknown = false
        /// The number of the taking that it first came with.
        var taking: Int
    }

    private(set) var pairs: [IDKey: Pair] = [:]
    private var queue: [IDKey] = []
    private var start = 0

    var isEmpty: Bool { pairs.isEmpty }
    var count: Int { pairs.count }

    /// The number of the oldest taking of which a pair is left.
    var oldestTaking: Int? { pairs.values.lazy.map(\.taking).min() }

    /// Notes a change.
    mutating func add(_ key: IDKey, _ side: PartnerSide, at time: ChangeTime, taking: Int, isUnknown: Bool = false) {
        if pairs[key] == nil {
            pairs[key] = Pair(taking: taking)
            queue.append(key)
        }
        pairs[key]?.times[side] = time
        if isUnknown { pairs[key]?.isUnknown = true }
    }

    /// Takes the first ones.
    mutating func take(_ count: Int) -> [(key: IDKey, pair: Pair)] {
        var taken: [(key: IDKey, pair: Pair)] = []
        while taken.count < count, start < queue.count {
            let key = queue[start]
            start += 1
            if let pair = pairs[key] { taken.append((key, pair)) }
        }
        for (key, _) in taken { pairs[key] = nil }
        if start > 4_096 {
            queue.removeFirst(start)
            start = 0
        }
        return taken
    }

    /// Gives a pair back whose change could not be carried over.
    mutating func restore(_ key: IDKey, _ pair: Pair) {
        guard let newer = pairs[key] else {
            pairs[key] = pair
            queue.append(key)
            return
        }
        var joined = pair
        joined.times.merge(newer.times) { _, newer in newer }
        joined.taking = min(pair.taking, newer.taking)
        pairs[key] = joined
    }
}
