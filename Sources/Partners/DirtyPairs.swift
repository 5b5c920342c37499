import BSON
import Following

/// The pairs that clients changed and that are not yet carried over, in the order of their first change.
struct DirtyPairs {
    /// The times of a document's changes.
    struct Change: Hashable {
        /// The first change since the document was carried over, by the deployment's clock.
        var first: ClusterTime
        /// The last change.
        var last: ChangeTime

        /// Takes a single change, or the last and the first of several.
        init(at last: ChangeTime, since first: ChangeTime? = nil) {
            (self.last, self.first) = (last, (first ?? last).cluster)
        }

        /// Joins the changes of one document.
        static func + (left: Change, right: Change) -> Change {
            var sum = left.last.cluster >= right.last.cluster ? left : right
            sum.first = min(left.first, right.first)
            return sum
        }
    }

    /// A pair that changed.
    struct Pair {
        /// The changes on each side.
        var changes: [PartnerSide: Change] = [:]
        /// Whether it is not known which side changed, so that no document counts as deleted.
        var isUnknown = false
        /// The number of the taking in which the pair first appeared.
        var taking: Int
        /// The time of the first change, in milliseconds since 1970; `nil` if it is not known.
        var since: Int64?
    }

    private(set) var pairs: [IDKey: Pair] = [:]
    private var queue: [IDKey] = []
    private var start = 0

    var isEmpty: Bool { pairs.isEmpty }
    var count: Int { pairs.count }

    /// The number of the oldest taking with a pair that is not yet carried over.
    var oldestTaking: Int? { pairs.values.lazy.map(\.taking).min() }

    /// The time of the oldest change that is not yet carried over, in milliseconds since 1970.
    var since: Int64? { pairs.values.lazy.compactMap(\.since).min() }

    /// Notes changes of a document, by the last and the first one.
    mutating func add(
        _ key: IDKey, _ side: PartnerSide, at time: ChangeTime, since first: ChangeTime? = nil, taking: Int,
        isUnknown: Bool = false
    ) {
        let change = Change(at: time, since: first)
        let since = isUnknown ? nil : (first ?? time).milliseconds
        join(key, Pair(changes: [side: change], isUnknown: isUnknown, taking: taking, since: since))
    }

    /// Notes that a held pair can be tried again; ``HeldPairs`` has its changes.
    mutating func add(_ key: IDKey, taking: Int) { join(key, Pair(taking: taking)) }

    /// Takes the first pairs.
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

    /// Takes the changes of a pair up to a time; later changes stay.
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

    /// Puts back a pair whose changes could not be carried over.
    mutating func restore(_ key: IDKey, _ pair: Pair) { join(key, pair) }

    /// Merges new changes of a pair into the known ones.
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
