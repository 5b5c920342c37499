/// A moment of a deployment's logical clock, which every change of its data has.
public struct ClusterTime: Hashable, Sendable {
    /// Seconds since 1970 in the upper, an ordinal in the lower half: the bits of a BSON timestamp.
    public let rawValue: UInt64

    /// Wraps the bits of a timestamp.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Seconds since 1970 in UTC.
    public var seconds: Int { Int(rawValue >> 32) }
    /// The number of the change within its second.
    public var ordinal: Int { Int(rawValue & 0xFFFF_FFFF) }
}

extension ClusterTime: Comparable {
    /// By time.
    public static func < (left: ClusterTime, right: ClusterTime) -> Bool { left.rawValue < right.rawValue }
}

extension ClusterTime: CustomStringConvertible {
    /// Such as `2026-11-21 19:20:11 UTC, change 3`.
    public var description: String {
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        let (year, month, day) = Self.civil(days)
        let time = [rest / 3_600, rest / 60 % 60, rest % 60].map(Self.twoDigits).joined(separator: ":")
        return "\(year)-\(Self.twoDigits(month))-\(Self.twoDigits(day)) \(time) UTC, change \(ordinal)"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Year, month and day of a count of days since 1970, by Howard Hinnant's `civil_from_days`.
    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let (era, day) = (shifted / 146_097, shifted % 146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let ordinal = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ordinal + 2) / 153
        let number = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (number <= 2 ? 1 : 0), number, ordinal - (153 * month + 2) / 5 + 1)
    }
}
