/// The counts for one path of the documents.
struct PathNode: Sendable {
    /// The number of values of each kind; there are few kinds, in the order in which they were found.
    private(set) var kinds: [(kind: ValueKind, count: Int)] = []
    /// The number of objects that hold the field, each counted once however often it holds it; not for folded values.
    var presence = 0
    /// The fields of its objects: their names and nodes.
    var keys = KeyTable()
    /// The node for the values of all fields, once the names are folded like a dictionary's; -1 before.
    var values = -1
    /// The number of fields whose names no App Services dictionary can have; counted only if the names are folded.
    var oddKeys = 0
    /// The node for the elements of its arrays; -1 before there is one.
    var items = -1
    /// The most elements of an array.
    var longestArray = 0
    /// The most levels of objects and arrays that begin here.
    var height = 0
    var hints = TextHints()
    var distinct = EnumCandidates()
    /// The number of the object that held the field last.
    var stamp = 0

    var isFolded: Bool { values >= 0 }

    /// The number of values.
    var total: Int { kinds.reduce(0) { $0 + $1.count } }

    func count(of kind: ValueKind) -> Int { kinds.first { $0.kind == kind }?.count ?? 0 }

    mutating func count(_ kind: ValueKind, _ count: Int = 1) {
        for index in kinds.indices where kinds[index].kind == kind {
            kinds[index].count += count
            return
        }
        kinds.append((kind, count))
    }

    /// Adds the counts of another node, except for what is below it.
    mutating func addCounts(of other: PathNode) {
        for (kind, count) in other.kinds { self.count(kind, count) }
        presence += other.presence
        oddKeys += other.oddKeys
        longestArray = max(longestArray, other.longestArray)
        height = max(height, other.height)
        hints.merge(other.hints)
        distinct.merge(other.distinct)
    }
}
