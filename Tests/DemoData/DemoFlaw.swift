/// The two schemas of the demo app: the active one, and the one that is to be deployed.
public enum DemoVersion: String, Sendable, CaseIterable {
    /// The active schema.
    case v1
    /// The next schema.
    case v2
}

/// A finding that a check of one document must give.
public struct DemoFlaw: Hashable, Sendable {
    /// How sure the rule is.
    public enum Level: String, Sendable {
        /// The document stops syncing.
        case certain
        /// Nobody documents whether it does.
        case possible
    }

    /// The rule's code.
    public let rule: String
    /// The path; an array's index is written `[]`, a dictionary's key `{}`.
    public let path: String
    /// How sure the rule is.
    public let level: Level

    /// Names a finding.
    public init(_ rule: String, _ path: String, _ level: Level = .certain) {
        self.rule = rule
        self.path = path
        self.level = level
    }
}

extension Presence {
    /// The finding that a required field gives when it stands so.
    ///
    /// - Parameter embedded: whether the field stands in an embedded object.
    func flaw(_ path: String, embedded: Bool = false) -> DemoFlaw? {
        let prefix = embedded ? "embedded-" : ""
        return switch self {
        case .present: nil
        case .missing: DemoFlaw("\(prefix)required-missing", path)
        case .null: DemoFlaw("\(prefix)required-null", path)
        }
    }
}
