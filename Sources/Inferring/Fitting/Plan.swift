import ServerSchema

/// The decision on what the schema declares for one path.
struct Plan {
    /// The declared types; exactly one for App Services; none leaves the path out.
    var types: [SchemaType]
    /// Whether every object must hold it.
    var isRequired = false

    /// Any value that clients can have.
    static let mixed = Plan(types: [.mixed])
}

/// The place of a node, as far as the rules depend on it.
enum Place {
    case root, id, field, element, value
}

/// A step that makes the schema stricter, and may make it refuse documents.
struct Tightening {
    /// The largest number of documents that it can refuse.
    var cost: Int
    /// The order in which the steps were found; of steps with the same cost, the first found is taken first.
    var order: Int
    var action: Action

    enum Action {
        /// Declares one type instead of `mixed` or nothing.
        case declare(node: Int, SchemaType, Place, level: Int)
        /// Declares `mixed` instead of nothing.
        case declareMixed(node: Int)
        /// Drops one of several types.
        case drop(node: Int, SchemaType)
        /// Requires a field.
        case require(node: Int)
    }
}

extension Tightening: Comparable {
    static func == (left: Tightening, right: Tightening) -> Bool { left.order == right.order }
    static func < (left: Tightening, right: Tightening) -> Bool {
        (left.cost, left.order) < (right.cost, right.order)
    }
}
