package import BSON

extension BSONValue {
    /// Whether the collation of a collection can affect which other values are equal to this one.
    package var dependsOnCollation: Bool {
        switch self {
        case .string, .invalidString, .symbol, .object, .array: true
        default: false
        }
    }

    /// Whether the value can be a link to another document: anything but null, undefined, an object or a list.
    package var isLink: Bool {
        switch self {
        case .object, .array, .null, .undefined: false
        default: true
        }
    }
    /// The links in the value: those of a list, or the value itself if it is one.
    package var links: [BSONValue] {
        guard case .array(let list) = self else { return isLink ? [self] : [] }
        return list.values.filter(\.isLink)
    }
}
