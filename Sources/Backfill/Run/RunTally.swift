import BSON

/// The documents that go through several phases in a row, and which of them an earlier phase changed.
///
/// A document counts as changed once, even if several phases change it.
struct RunTally: Sendable {
    /// The documents of the current chunks that an earlier phase changed; `nil` in a run of one phase.
    private var changed: Set<BSONValue>?

    mutating func beginPhases() { changed = [] }

    /// Returns how many of the documents no earlier phase has changed.
    func fresh(_ ids: [BSONValue]) -> Int {
        guard let changed else { return ids.count }
        return ids.count { !changed.contains($0) }
    }

    mutating func committed(_ ids: [BSONValue]) { changed?.formUnion(ids) }

    /// Forgets the changed documents, because an election undid some of the changes.
    mutating func reset() { changed = changed.map { _ in [] } }
}
