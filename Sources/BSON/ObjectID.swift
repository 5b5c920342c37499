/// The twelve bytes of an ObjectId, stored in two integers.
public struct ObjectID: Hashable, Sendable, BitwiseCopyable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last four bytes, most significant first.
    public let low: UInt32

    /// Creates an ObjectId from its two parts.
    public init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Reads 24 hexadecimal digits; `nil` for any other text.
    public init?(_ hex: some StringProtocol) {
        guard hex.utf8.count == 24, hex.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let high = UInt64(hex.prefix(16), radix: 16), let low = UInt32(hex.suffix(8), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

extension ObjectID: CustomStringConvertible {
    /// The ObjectId as 24 lower-case hexadecimal digits.
    public var description: String {
        let head = String(high, radix: 16)
        let tail = String(low, radix: 16)
        return String(repeating: "0", count: 16 - head.count) + head
            + String(repeating: "0", count: 8 - tail.count) + tail
    }
}
