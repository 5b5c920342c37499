import BSON
import Following

/// The pairs that clients changed and that are not carried over yet, in the order of their first change.
struct DirtyPairs {
    /// When a document changed.
    struct Change: Hashable {
        /// The first time since it was carried over, by the deployment's clock.
        var first: ClusterTime
        /// The last time.
        var last: ChangeTime

        /// A single change, or the last and the first of several.
        init(at last: ChangeTime, since first: ChangeTime? = nil) {
            (self.last, self.first) = (last, (first ?? last).cluster)
        }

        /// Joins what is known of one document.
        static func + (left: Change, right: Change) -> Change {
            var sum = left.last.cluster >= right.last.cluster ? left : right
            sum.first = min(left.first, right.first)
            return sum
        }
    }

    /// A pair that changed.
    struct Pair {
        /// The changes of each side.
        var changes: [PartnerSide: Change] = [:]
        /// Whether it is not known which side changed, so that no document counts as deleted.
        var isUnknown = false
        /// The number of the taking that it first came with.
        var taking: Int
        /// When the first of its changes was made, in milliseconds since 1970; `nil` where that is not known.
        var since: Int64?
    }

    private(set) var pairs: [IDKey: Pair] = [:]
    private var queue: [IDKey] = []
    private var start = 0

    var isEmpty: Bool { pairs.isEmpty }
    var count: Int { pairs.count }

    /// The number of the oldest taking of which a pair is left.
    var oldestTaking: Int? { pairs.values.lazy.map(\.taking).min() }

    /// When the oldest change was made that is not carried over, in milliseconds since 1970.
    var since: Int64? { pairs.values.lazy.compactMap(\.since).min() }

    /// Notes changes of a document: the last of them, and the first.
    mutating func add(
        _ key: IDKey, _ side: PartnerSide, at time: ChangeTime, since first: ChangeTime? = nil, taking: Int,
        isUnknown: Bool = false
    ) {
        let change = Change(at: time, since: first)
        let since = isUnknown ? nil : (first ?? time).milliseconds
        join(key, Pair(changes: [side: change], isUnknown: isUnknown, taking: taking, since: since))
    }

    /// Notes that a pair whose changes are known elsewhere can be tried again.
    mutating func add(_ key: IDKey, taking: Int) { join(key, Pair(taking: taking)) }

    /// Takes the first ones.
    mutating func take(_ count: Int) -> [(key: IDKey, pair: Pair)] {
        var taken: [(key: IDKey, pair: Pair)] = []
        while taken.count < count, start < queue.count {
            let key = queue[start]
            start += 1
            if let pair = pairs.removeValue(forKey: key) { taken.append((key, pair)) }
        }
        if start > 4_096 {
            queue.removeFirst(start)
            start = 0
        }
        return taken
    }

    /// Takes the changes of a pair that were made up to a time; later ones stay.
    mutating func takeChanges(of key: IDKey, upTo time: ClusterTime) -> [PartnerSide: Change] {
        guard var pair = pairs[key] else { return [:] }
        let due = pair.changes.filter { $0.value.first <= time }
        for (side, change) in due {
            guard change.last.cluster > time else {
                pair.changes[side] = nil
                continue
            }
            pair.changes[side]?.first = ClusterTime(rawValue: time.rawValue + 1)
        }
        pairs[key] = pair.changes.isEmpty && !pair.isUnknown ? nil : pair
        return due
    }

    /// Gives a pair back whose changes could not be carried over.
    mutating func restore(_ key: IDKey, _ pair: Pair) { join(key, pair) }

    /// Adds what is known of a pair to what was known of it.
    private mutating func join(_ key: IDKey, _ other: Pair) {
        guard var pair = pairs[key] else {
            pairs[key] = other
            queue.append(key)
            return
        }
        pair.changes.merge(other.changes) { $0 + $1 }
        pair.isUnknown = pair.isUnknown || other.isUnknown
        pair.taking = min(pair.taking, other.taking)
        pair.since = [pair.since, other.since].compactMap(\.self).min()
        pairs[key] = pair
    }
}
