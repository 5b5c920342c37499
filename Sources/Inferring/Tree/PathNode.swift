/// The counts of the values at one path in the documents.
struct PathNode: Sendable {
    /// The number of values of each kind, in the order in which the kinds were found.
    ///
    /// This is an array and not a dictionary, because a path has values of only a few kinds.
    private(set) var kinds: [(kind: ValueKind, count: Int)] = []
    /// The number of objects that have the last field of the path; an object that has this field twice counts once.
    ///
    /// The objects are not counted in a node that combines the values of several fields; see ``PathTree/fold(_:)``.
    var presence = 0
    /// The fields of the objects at the path: their names and nodes.
    var keys = KeyTable()
    /// The node that combines the values of all fields if the objects at the path are folded; otherwise -1.
    ///
    /// The fields of folded objects are counted like the entries of a dictionary; see ``PathTree/fold(_:)``.
    var values = -1
    /// The number of fields of the objects at the path that have a name which no App Services dictionary can contain.
    ///
    /// The fields are counted only if the objects at the path are folded; see ``PathTree/fold(_:)``.
    var oddKeys = 0
    /// The node for the elements of the arrays at the path; -1 if there was no element.
    var items = -1
    /// The largest number of elements in an array at the path.
    var longestArray = 0
    /// The largest number of nested levels of objects and arrays that begin at the path.
    var height = 0
    var hints = TextHints()
    var distinct = EnumCandidates()
    /// The serial number of the last object that had the last field of the path.
    ///
    /// The number shows whether an object has the field twice, because such an object counts only once.
    var stamp = 0

    var isFolded: Bool { values >= 0 }

    var total: Int { kinds.reduce(0) { $0 + $1.count } }

    func count(of kind: ValueKind) -> Int { kinds.first { $0.kind == kind }?.count ?? 0 }

    mutating func count(_ kind: ValueKind, _ count: Int = 1) {
        for index in kinds.indices where kinds[index].kind == kind {
            kinds[index].count += count
            return
        }
        kinds.append((kind, count))
    }

    /// Adds the counts of another node, but not those of the nodes below it.
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
