public import BSON
public import ServerSchema

/// One thing that is wrong with one document, or worth knowing about it.
///
/// It names types, and a value only where that was asked for.
public struct Violation: Hashable, Sendable {
    /// Where.
    public let path: SchemaPath
    /// Which rule says so.
    public let rule: RuleCode
    /// How sure it is that the document does not sync.
    public let level: Level
    /// What the schema wants.
    public let expected: String
    /// What is there.
    public let found: String
    /// The value that is there; `nil` unless values were asked for.
    public var value: BSONValue?

    /// Joins the parts.
    public init(
        path: SchemaPath, rule: RuleCode, level: Level, expected: String, found: String, value: BSONValue? = nil
    ) {
        self.path = path
        self.rule = rule
        self.level = level
        self.expected = expected
        self.found = found
        self.value = value
    }
}

extension Violation: CustomStringConvertible {
    /// Path, rule, and the two types.
    public var description: String { "\(path): \(rule), expected \(expected), found \(found)" }
}
