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
        /// When the first of its changes was made, in milliseconds since 1970; `nil` where nobody knows.
        var since: Int64?
    }

    private(set) var pairs: [IDKey: Pair] = [:]
    private var queue: [IDKey] = []
    private var start = 0

    var isEmpty: Bool { pairs.isEmpty }
    var count: Int { pairs.count }

    /// The number of the oldest taking of which a pair is left.
    var oldestTaking: Int? { pairs.values.lazy.map(\.taking).min() }

    /// When the oldest change was made that is not seen to, in milliseconds since 1970.
    var since: Int64? { pairs.values.lazy.compactMap(\.since).min() }

    /// Notes changes of a document: the last of them, and the first.
    mutating func add(
        _ key: IDKey, _ side: PartnerSide, at time: ChangeTime, since first: ChangeTime? = nil, taking: Int,
        isUnknown: Bool = false
    ) {
        var pair = Pair(taking: taking)
        pair.times[side] = time
        pair.isUnknown = isUnknown
        if !isUnknown { pair.since = (first ?? time).milliseconds }
        join(key, pair)
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
        let newer = pairs[key]
        join(key, pair)
        if let newer { pairs[key]?.times.merge(newer.times) { _, newer in newer } }
    }

    /// Adds what is known of a pair to what was known of it.
    private mutating func join(_ key: IDKey, _ other: Pair) {
        guard var pair = pairs[key] else {
            pairs[key] = other
            queue.append(key)
            return
        }
        pair.times.merge(other.times) { _, other in other }
        pair.isUnknown = pair.isUnknown || other.isUnknown
        pair.taking = min(pair.taking, other.taking)
        pair.since = [pair.since, other.since].compactMap(\.self).min()
        pairs[key] = pair
    }
}
