/// The worst that is to be said of one document, in a byte.
public enum Verdict: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// Nothing, or only ``Level/info``.
    case fits
    /// It syncs, but someone should look at it.
    case warning
    /// It may stop syncing.
    case possible
    /// It does not sync.
    case certain

    /// The verdict that a finding of that level leads to.
    init(_ level: Level) {
        switch level {
        case .info: self = .fits
        case .warning: self = .warning
        case .possible: self = .possible
        case .certain: self = .certain
        }
    }
}

extension Verdict: Comparable {
    /// By severity.
    public static func < (left: Verdict, right: Verdict) -> Bool { left.rawValue < right.rawValue }
}

extension Verdict: CustomStringConvertible {
    /// The name, as reports spell it.
    public var description: String {
        switch self {
        case .fits: "fits"
        case .warning: "warning"
        case .possible: "possible"
        case .certain: "certain"
        }
    }
}
