/// How sure it is that a finding keeps its document from syncing.
public enum Level: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// Nothing is wrong; it is only worth knowing.
    case info
    /// The document syncs, but someone should look at it.
    case warning
    /// The translator's behaviour is not documented: the document may stop syncing.
    case possible
    /// The document does not sync.
    case certain
}

extension Level: Comparable {
    /// By severity.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
}

extension Level: CustomStringConvertible {
    /// The name, as reports spell it.
    public var description: String {
        switch self {
        case .info: "info"
        case .warning: "warning"
        case .possible: "possible"
        case .certain: "certain"
        }
    }
}
