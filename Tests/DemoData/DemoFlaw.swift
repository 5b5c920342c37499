/// The versions of the demo app's schemas: the active one, and the next one to deploy.
public enum DemoVersion: String, Sendable, CaseIterable {
    /// The active schema.
    case v1
    /// The next schema.
    case v2
}

/// A finding that a check of one document must report.
public struct DemoFlaw: Hashable, Sendable {
    /// The certainty of a finding.
    public enum Level: String, Sendable {
        /// The document stops syncing.
        case certain
        /// MongoDB's documentation does not say whether the document stops syncing.
        case possible
    }

    /// The code of the broken rule.
    public let rule: String
    /// The path of the field, in which `[]` means the elements of an array, and `{}` the values of a dictionary.
    public let path: String
    /// The certainty of the finding.
    public let level: Level

    /// Makes a finding with the given level, by default `certain`.
    public init(_ rule: String, _ path: String, _ level: Level = .certain) {
        self.rule = rule
        self.path = path
        self.level = level
    }
}

extension Presence {
    /// Returns the finding for a required field that is missing or null; `nil` if the field is present.
    ///
    /// - Parameter embedded: whether the field is in an embedded object.
    func flaw(_ path: String, embedded: Bool = false) -> DemoFlaw? {
        let prefix = embedded ? "embedded-" : ""
        return switch self {
        case .present: nil
        case .missing: DemoFlaw("\(prefix)required-missing", path)
        case .null: DemoFlaw("\(prefix)required-null", path)
        }
    }
}
