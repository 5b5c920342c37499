/// A time on a deployment's logical clock; every change of data in the deployment has one.
public struct ClusterTime: Hashable, Sendable {
    /// The time as the bits of a BSON timestamp: seconds since 1970 in the upper half, an ordinal in the lower half.
    public let rawValue: UInt64

    /// Creates a time from the bits of a timestamp.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The seconds since 1970 in UTC.
    public var seconds: Int { Int(rawValue >> 32) }
    /// The number of the change within its second.
    public var ordinal: Int { Int(rawValue & 0xFFFF_FFFF) }
}

extension ClusterTime: Comparable {
    /// Orders from the earlier time to the later one.
    public static func < (left: ClusterTime, right: ClusterTime) -> Bool { left.rawValue < right.rawValue }
}

extension ClusterTime: CustomStringConvertible {
    /// The time as text, without the ordinal, such as `2026-11-21 19:20:11 UTC`.
    public var description: String { "\(ServerTime(milliseconds: Int64(seconds) * 1_000))" }
}
