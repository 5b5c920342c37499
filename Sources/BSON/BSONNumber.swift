/// A number of any of the four BSON number types.
@frozen
public enum BSONNumber: Hashable, Sendable, BitwiseCopyable {
    /// An `int` or a `long`.
    case integer(Int64)
    /// A `double`.
    case double(Double)
    /// A `decimal`.
    case decimal(Decimal128)

    /// Reads the number in a value; `nil` for a value of another type.
    public init?(_ value: BSONValue) {
        switch value {
        case .int(let number): self = .integer(Int64(number))
        case .long(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        default: return nil
        }
    }
}

extension BSONNumber {
    /// Compares the exact values: NaN equals NaN and is less than every other number, and -0 equals 0.
    public func compared(to other: BSONNumber) -> BSONOrder {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): BSONOrder(left, right)
        case (.integer(let left), .double(let right)): Self.compare(left, right)
        case (.integer(let left), .decimal(let right)): Decimal128(left).compared(to: right)
        case (.double(let left), .double(let right)): Self.compare(left, right)
        case (.decimal(let left), .double(let right)): left.compared(to: right)
        case (.decimal(let left), .decimal(let right)): left.compared(to: right)
        case (.double, .integer), (.double, .decimal), (.decimal, .integer): other.compared(to: self).reversed
        }
    }

    private static func compare(_ left: Double, _ right: Double) -> BSONOrder {
        if left.isNaN || right.isNaN { return BSONOrder(right.isNaN ? 1 : 0, left.isNaN ? 1 : 0) }
        return BSONOrder(left, right)
    }

    private static func compare(_ left: Int64, _ right: Double) -> BSONOrder {
        if right.isNaN || right < -0x1p63 { return .greater }
        if right >= 0x1p63 { return .less }
        let whole = right.rounded(.towardZero)
        let order = BSONOrder(left, Int64(whole))
        return order == .equal ? BSONOrder(whole, right) : order
    }
}
