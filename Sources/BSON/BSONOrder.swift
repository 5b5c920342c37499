/// The result of comparing two values in the order in which MongoDB sorts values and indexes.
///
/// A sort by ``compare(_:_:)`` gives the order in which mongod reads the `_id` index of a collection without a
/// collation.
public enum BSONOrder: Int, Hashable, Sendable {
    /// The first value sorts before the second.
    case less = -1
    /// Neither value sorts before the other; their bytes may still differ, as for 1 and 1.0.
    case equal = 0
    /// The first value sorts after the second.
    case greater = 1

    /// Creates the result of comparing two Swift values by `<`.
    @inlinable
    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .less : left > right ? .greater : .equal
    }

    /// The result of comparing the same two values in the opposite order.
    public var reversed: BSONOrder {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

extension BSONOrder {
    /// Compares two values in the order in which mongod sorts them.
    ///
    /// The types are compared first, in a fixed order in which some types have the same position, such as the four
    /// number types; the values are compared after that. Nested documents are compared only up to the first damaged
    /// part, and only down to the level ``BSONView/maximumDepth``.
    public static func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        switch (left, right) {
        case (.objectID(let left), .objectID(let right)): compare(left, right)
        case (.object(let left), .object(let right)): left.view.compare(to: right.view)
        default: compareElements(left, right)
        }
    }

    /// Compares two ObjectIds byte by byte.
    public static func compare(_ left: ObjectID, _ right: ObjectID) -> BSONOrder {
        left.high == right.high ? BSONOrder(left.low, right.low) : BSONOrder(left.high, right.high)
    }

    /// Whether `left` sorts before `right`; for `sort(by:)`.
    public static func precedes(_ left: BSONValue, _ right: BSONValue) -> Bool { compare(left, right) == .less }

    private static func compareElements(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        if let left = BSONNumber(left), let right = BSONNumber(right) { return left.compared(to: right) }
        let left = BSONDocument(CollectionOfOne(("", left)))
        let right = BSONDocument(CollectionOfOne(("", right)))
        return left.view.compare(to: right.view)
    }
}

extension BSONType {
    /// The position of the type in MongoDB's order; types with the same position are ordered by their values.
    ///
    /// Source: `canonicalizeBSONType` in mongod's `bsontypes.h`.
    @inlinable
    public var sortPlace: Int {
        switch self {
        case .minKey: -1
        case .undefined: 0
        case .null: 5
        case .double, .int, .long, .decimal: 10
        case .string, .symbol: 15
        case .object: 20
        case .array: 25
        case .binData: 30
        case .objectId: 35
        case .bool: 40
        case .date: 45
        case .timestamp: 47
        case .regex: 50
        case .dbPointer: 55
        case .javascript: 60
        case .javascriptWithScope: 65
        default: 127
        }
    }
}
