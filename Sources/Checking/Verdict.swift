/// The verdict on one document, which its worst finding decides; it is stored in one byte.
public enum Verdict: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// No finding, or only findings of the level ``Level/info``.
    case fits
    /// The document syncs, but the operator should look at it.
    case warning
    /// The document might stop syncing.
    case possible
    /// The document does not sync.
    case certain

    init(_ level: Level) { self = Verdict(rawValue: level.rawValue) ?? .certain }
}

extension Verdict: Comparable {
    /// Orders from the least severe (fits) to the most severe (certain).
    public static func < (left: Verdict, right: Verdict) -> Bool { left.rawValue < right.rawValue }
}

extension Verdict: CustomStringConvertible {
    /// The verdict's name, as reports show it.
    public var description: String { self == .fits ? "fits" : Level.names[Int(rawValue)] }
}
