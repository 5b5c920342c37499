package import BSON

/// An `_id` as far as the ledger of unsynced documents tells it.
///
/// The ledger does not say of which BSON type its ids are, so an ObjectId is the same as its 24 hexadecimal digits, and
/// numbers are the same when their integral values are.
package enum LedgerKey: Hashable, Sendable {
    /// An ObjectId, or its digits.
    case objectID(ObjectID)
    /// A whole number.
    case integer(Int64)
    /// Anything else.
    case other(BSONValue)

    /// Folds what the ledger does not tell apart.
    package init(_ value: BSONValue) {
        switch value {
        case .objectID(let id): self = .objectID(id)
        case .string(let text): self = ObjectID(text).map { .objectID($0) } ?? .other(value)
        case .int(let number): self = .integer(Int64(number))
        case .long(let number): self = .integer(number)
        case .double(let number): self = Int64(exactly: number).map { .integer($0) } ?? .other(value)
        case .decimal(let number): self = DecimalParts(number).exactInt64.map { .integer($0) } ?? .other(value)
        default: self = .other(value)
        }
    }
}
