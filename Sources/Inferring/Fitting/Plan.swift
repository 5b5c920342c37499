import ServerSchema

/// What the schema is going to say of one path.
struct Plan {
    /// The types that it declares; one, for App Services; none leaves the path out.
    var types: [SchemaType]
    /// Whether every object must hold it.
    var isRequired = false

    /// Anything that clients can have.
    static let mixed = Plan(types: [.mixed])
}

/// Where a node stands, as far as rules differ by it.
enum Place {
    case root, id, field, element, value
}

/// A way to make the schema say more, at the price of documents that it then refuses.
struct Tightening {
    /// The documents that it refuses, at most.
    var cost: Int
    /// Tells apart those of one cost: the one found first is taken first.
    var order: Int
    var action: Action

    enum Action {
        /// Declares one type, where else `mixed` would stand, or nothing.
        case declare(node: Int, SchemaType, Place, level: Int)
        /// Declares `mixed`, where else nothing would stand.
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
