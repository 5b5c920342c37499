/// The stable name of a rule, as reports show it.
///
/// The type is not an enumeration, because later versions may add rules.
public struct RuleCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The stable name of the rule, as reports show it.
    public let rawValue: String

    /// Creates the code of a rule with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the rule.
    public var description: String { rawValue }

    /// The rule with this code, also if it judges a constraint under it; `nil` if this version has no such rule.
    public var rule: Rule? { Rule.byCode[self] }

    /// The code under which the rule is reported if it judges a constraint of an App Services schema.
    var ofConstraint: RuleCode { Self(rawValue: "constraint-\(rawValue)") }

    /// Whether the code is that of a rule, and not the one under which the rule judges a constraint.
    public static func == (code: RuleCode, rule: Rule) -> Bool { code == rule.code }

    /// The codes of all rules, and the codes under which rules report a constraint of an App Services schema.
    package static var known: [RuleCode] {
        Rule.allCases.map(\.code) + Rule.allCases.filter(\.judgesConstraints).map(\.code.ofConstraint)
    }
}
