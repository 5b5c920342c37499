import BSON

extension BSONValue {
    /// Whether the collation of a collection affects which other values are equal to this one.
    package var dependsOnCollation: Bool {
        switch self {
        case .string, .invalidString, .symbol, .object, .array: true
        default: false
        }
    }
}
