import BSON

/// The documents of a chunk that may be written, with what must still hold of them.
struct Selection {
    /// In groups of one condition; `nil` for those that have none.
    private(set) var groups: [(condition: Expression?, ids: [BSONValue])] = []
    private var places: [Expression?: Int] = [:]

    /// Adds a document.
    mutating func add(_ id: BSONValue, while condition: Expression? = nil) {
        if let place = places[condition] {
            groups[place].ids.append(id)
        } else {
            places[condition] = groups.count
            groups.append((condition, [id]))
        }
    }
}
