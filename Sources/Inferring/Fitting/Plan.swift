import ServerSchema

/// The decision on what the schema declares for the values at one path.
struct Plan {
    /// The declared types; in an App Services schema exactly one.
    var types: [SchemaType]
    /// Whether every object that can have the field must have it.
    var isRequired = false

    /// A plan that accepts any value that clients can have.
    static let mixed = Plan(types: [.mixed])
}

/// The kinds of places in a document that a node's values can have; each kind has rules of its own.
enum Place {
    case root, id, field, element, value
}

/// A step that makes the schema stricter, so that it may refuse documents.
struct Tightening {
    /// The largest number of documents that the schema can refuse because of this step.
    var cost: Int
    /// The step's place in the order in which the steps were found; it decides between steps with the same cost.
    var order: Int
    var action: Action

    enum Action {
        /// Declares one type for a path that is `mixed` or not declared.
        case declare(node: Int, SchemaType, Place, level: Int)
        case declareMixed(node: Int)
        /// Removes one of several types that are declared for a path.
        case drop(node: Int, SchemaType)
        /// Requires a field in each object that can hold it.
        case require(node: Int)
    }
}

extension Tightening: Comparable {
    static func == (left: Tightening, right: Tightening) -> Bool { left.order == right.order }
    static func < (left: Tightening, right: Tightening) -> Bool {
        (left.cost, left.order) < (right.cost, right.order)
    }
}
