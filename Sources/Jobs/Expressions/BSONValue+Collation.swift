import BSON

extension BSONValue {
    /// Whether the collection's collation affects which values are equal to this one.
    package var dependsOnCollation: Bool {
        switch self {
        case .string, .invalidString, .symbol, .object, .array: true
        default: false
        }
    }
}
