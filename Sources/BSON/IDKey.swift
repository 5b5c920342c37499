/// An `_id`, or a link to one, for comparisons in which equal whole numbers of different types are equal.
@frozen
public struct IDKey: Hashable, Sendable {
    /// The value; a whole number of any type is converted to a `long` if it fits.
    public let value: BSONValue

    /// Creates the key of a value.
    public init(_ value: BSONValue) {
        let whole: Int64? =
            switch BSONNumber(value) {
            case .integer(let number): number
            case .double(let number): Int64(exactly: number)
            case .decimal(let number): Int64(exactly: number)
            case nil: nil
            }
        self.value = whole.map { .long($0) } ?? value
    }
}
