/// What was counted at one path of the documents.
struct PathNode: Sendable {
    /// How many values of each kind were met; few kinds, in the order in which they were met.
    private(set) var kinds: [(kind: ValueKind, count: Int)] = []
    /// The objects that hold the field, each once however often it holds it; not counted of folded values.
    var presence = 0
    /// The fields of its objects: their names and nodes.
    var keys = KeyTable()
    /// All fields' values together, once the names are folded: as those of a dictionary; -1 before.
    var values = -1
    /// The fields of its objects whose names no dictionary of App Services can have; counted once folded.
    var oddKeys = 0
    /// The elements of its arrays; -1 before there is one.
    var items = -1
    /// The most elements of an array.
    var longestArray = 0
    /// The levels of objects and arrays that begin here.
    var height = 0
    var hints = TextHints()
    var distinct = EnumCandidates()
    /// The object that held the field last.
    var stamp = 0

    var isFolded: Bool { values >= 0 }

    /// How many values were met.
    var total: Int { kinds.reduce(0) { $0 + $1.count } }

    func count(of kind: ValueKind) -> Int { kinds.first { $0.kind == kind }?.count ?? 0 }

    mutating func count(_ kind: ValueKind, _ count: Int = 1) {
        for index in kinds.indices where kinds[index].kind == kind {
            kinds[index].count += count
            return
        }
        kinds.append((kind, count))
    }

    /// Adds what was counted at another node, but for what is below it.
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
