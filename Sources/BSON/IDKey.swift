/// An `_id`, or a link to one, as the server compares it: whole numbers are equal across their types.
@frozen
public struct IDKey: Hashable, Sendable {
    /// The value; a whole number of any type is a `long`.
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
