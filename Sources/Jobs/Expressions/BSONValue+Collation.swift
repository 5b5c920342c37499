import BSON

extension BSONValue {
    /// Whether the collection's collation has a say in which values are equal to it.
    package var dependsOnCollation: Bool {
        switch self {
        case .string, .invalidString, .symbol, .object, .array: true
        default: false
        }
    }
}
