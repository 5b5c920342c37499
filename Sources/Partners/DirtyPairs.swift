import BSON
import Following

/// The pairs with changes that the mirror still has to carry over, in the order in which they were listed.
///
/// A pair consists of a document of the original collection and its counterpart in the partner collection.
struct DirtyPairs {
    /// The times of the changes of one document of a pair.
    struct Change: Hashable {
        /// The time of the first of the document's changes that the mirror has not carried over yet.
        var first: ClusterTime
        /// The time of the document's last change.
        var last: ChangeTime

        /// Stores the times of the first and the last change; without `first`, the only change was at `last`.
        init(at last: ChangeTime, since first: ChangeTime? = nil) {
            (self.last, self.first) = (last, (first ?? last).cluster)
        }

        /// Returns the earlier of two first times and the later of two last times, for changes of the same document.
        static func + (left: Change, right: Change) -> Change {
            var sum = left.last.cluster >= right.last.cluster ? left : right
            sum.first = min(left.first, right.first)
            return sum
        }
    }

    /// The changes of a pair that the mirror has not carried over yet.
    struct Pair {
        /// The times of the changes on each side; a side without a change has no entry.
        var changes: [PartnerSide: Change] = [:]
        /// Whether it is unknown which document of the pair changed.
        ///
        /// If it is unknown, a missing document does not count as deleted.
        var isUnknown = false
        /// The number of the read from the change streams that first reported a change of the pair.
        ///
        /// One read takes the pending changes of the change streams of both sides.
        var read: Int
        /// The time of the earliest listed change of the pair, in milliseconds since 1970; `nil` if it is unknown.
        var since: Int64?
    }

    private(set) var pairs: [IDKey: Pair] = [:]
    private var queue: [IDKey] = []
    private var start = 0

    var isEmpty: Bool { pairs.isEmpty }
    var count: Int { pairs.count }

    /// The number of the oldest read that reported a change which the mirror has not carried over yet.
    ///
    /// `nil` if all changes are carried over. A read takes the pending changes from the change streams of both sides.
    var oldestRead: Int? { pairs.values.lazy.map(\.read).min() }

    /// The time of the oldest change that is not carried over yet, in milliseconds since 1970.
    ///
    /// Changes at an unknown time are ignored; `nil` if there is no other change.
    var since: Int64? { pairs.values.lazy.compactMap(\.since).min() }

    /// Adds one document's changes to its pair.
    ///
    /// `time` is the time of the last change; `first` is the time of the first one, or `nil` if there was only one.
    mutating func add(
        _ key: IDKey, _ side: PartnerSide, at time: ChangeTime, since first: ChangeTime? = nil, read: Int,
        isUnknown: Bool = false
    ) {
        let change = Change(at: time, since: first)
        let since = isUnknown ? nil : (first ?? time).milliseconds
        join(key, Pair(changes: [side: change], isUnknown: isUnknown, read: read, since: since))
    }

    /// Adds a pair that ``HeldPairs`` lists; the mirror then tries again to carry the pair over.
    ///
    /// ``HeldPairs`` stores the times of the pair's changes, so the pair is added without them.
    mutating func add(_ key: IDKey, read: Int) { join(key, Pair(read: read)) }

    /// Removes and returns at most `count` pairs, the ones that were listed first.
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

    /// Removes and returns the changes of the documents of a pair that have a listed change at or before `time`.
    ///
    /// If such a document also changed after `time`, its later changes stay listed.
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

    /// Returns the time of the last listed change of a document of the pair; `nil` if that time is not after `time`.
    func lastChange(of key: IDKey, on side: PartnerSide, after time: ClusterTime) -> ChangeTime? {
        guard let last = pairs[key]?.changes[side]?.last, last.cluster > time else { return nil }
        return last
    }

    /// Adds a pair again, because its changes were not carried over.
    mutating func restore(_ key: IDKey, _ pair: Pair) { join(key, pair) }

    private mutating func join(_ key: IDKey, _ other: Pair) {
        guard var pair = pairs[key] else {
            pairs[key] = other
            queue.append(key)
            return
        }
        pair.changes.merge(other.changes) { $0 + $1 }
        pair.isUnknown = pair.isUnknown || other.isUnknown
        pair.read = min(pair.read, other.read)
        pair.since = [pair.since, other.since].compactMap(\.self).min()
        pairs[key] = pair
    }
}
