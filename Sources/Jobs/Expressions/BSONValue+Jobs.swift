import BSON

extension BSONValue {
    /// Whether the collation of a collection affects which other values are equal to this one.
    package var dependsOnCollation: Bool {
        switch self {
        case .string, .invalidString, .symbol, .object, .array: true
        default: false
        }
    }

    /// Whether the value can be a link, which is the primary key of another document and neither an object nor a list.
    package var isLink: Bool {
        switch self {
        case .object, .array, .null, .undefined: false
        default: true
        }
    }
}
