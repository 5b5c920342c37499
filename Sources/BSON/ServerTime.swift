/// A time on a server's clock, as a BSON date stores it.
public struct ServerTime: Hashable, Sendable {
    /// The milliseconds since 1970 in UTC.
    public let milliseconds: Int64

    /// Creates a time from milliseconds since 1970 in UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Reads the time from a date; `nil` for a value of another type.
    public init?(_ value: BSONValue?) {
        guard case .date(let milliseconds)? = value else { return nil }
        self.milliseconds = milliseconds
    }

    /// Returns the seconds between an earlier time and this one.
    public func seconds(since earlier: ServerTime) -> Double { Double(milliseconds - earlier.milliseconds) / 1_000 }
}

extension ServerTime: Comparable {
    /// Orders from the earlier time to the later one.
    public static func < (left: ServerTime, right: ServerTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension ServerTime: CustomStringConvertible {
    /// The time as text, such as `2026-11-21 19:20:11 UTC`.
    public var description: String { "\(date) \(time) UTC" }

    /// The time in ISO 8601, such as `2026-11-21T19:20:11Z`.
    public var iso8601: String { "\(date)T\(time)Z" }

    /// The time as JavaScript's `toISOString` writes it, such as `2026-11-21T19:20:11.005Z`.
    ///
    /// Years outside 0 to 9999 have a sign and six digits.
    package var iso8601WithMilliseconds: String {
        func padded(_ number: UInt, _ digits: Int) -> String {
            String(repeating: "0", count: max(0, digits - "\(number)".utf8.count)) + "\(number)"
        }
        let year = Self.civil(seconds.dividedFloor(by: 86_400)).0
        let sign = year < 0 ? "-" : year > 9_999 ? "+" : ""
        let rest = iso8601.dropLast().suffix("-04-20T00:00:00".count)
        let fraction = padded(UInt(milliseconds % 1_000 + 1_000) % 1_000, 3)
        return "\(sign)\(padded(year.magnitude, sign.isEmpty ? 4 : 6))\(rest).\(fraction)Z"
    }

    private var seconds: Int { Int(milliseconds.dividedFloor(by: 1_000)) }

    private var time: String {
        let rest = seconds - seconds.dividedFloor(by: 86_400) * 86_400
        return [rest / 3_600, rest / 60 % 60, rest % 60].map(Self.twoDigits).joined(separator: ":")
    }

    private var date: String {
        let (year, month, day) = Self.civil(seconds.dividedFloor(by: 86_400))
        return "\(year)-\(Self.twoDigits(month))-\(Self.twoDigits(day))"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns the year, month and day for a number of days since 1970, by Howard Hinnant's `civil_from_days`.
    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = shifted.dividedFloor(by: 146_097)
        let day = shifted - era * 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let ordinal = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ordinal + 2) / 153
        let number = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (number <= 2 ? 1 : 0), number, ordinal - (153 * month + 2) / 5 + 1)
    }
}

extension BinaryInteger {
    /// Returns the quotient by a positive divisor, rounded towards negative infinity.
    fileprivate func dividedFloor(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
