/// A rule about what a sync engine does with documents: one row of the table of rules.
public struct EngineRule: Sendable {
    /// The engine that has the rule.
    public let engine: Engine
    /// The consequence of the condition.
    public let outcome: Outcome
    /// Whether the consequence is certain; otherwise it depends on the engine's settings or on a later version.
    public let isCertain: Bool
    /// The condition that has the consequence, in words.
    public let meaning: String
    /// A document, or a part of one, that meets the condition.
    public let example: String
    /// The advice on what to do about the documents.
    public let remedy: String
    /// The file or the page of the engine's own that states the behaviour.
    public let source: String
    /// The words for what the engine expects in place of what was found.
    let expected: String
    let rule: Rule
    /// The conditions, each of which has the consequence.
    let conditions: [Condition]

    /// The stable name of the rule.
    public var code: RuleCode { rule.code }

    init(
        _ rule: Rule, of engine: Engine, _ outcome: Outcome, isCertain: Bool = true, if conditions: Condition...,
        expected: String, meaning: String, example: String, remedy: String, source: String
    ) {
        (self.rule, self.engine, self.outcome, self.isCertain) = (rule, engine, outcome, isCertain)
        (self.conditions, self.expected) = (conditions, expected)
        (self.meaning, self.example, self.remedy, self.source) = (meaning, example, remedy, source)
    }

    /// The level of the rule's findings.
    var level: Level { outcome == .changed ? .info : isCertain ? .certain : .possible }

    /// The consequences for a document, the worst first.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The replication of the whole instance stops at the document, for all users.
        case halts
        /// The document never arrives.
        case dropped
        /// The document arrives, but a value of it does not, or arrives as 0 or null.
        case lostValue = "lost value"
        /// The value arrives as another type; nothing is lost.
        case changed
    }
}

extension EngineRule.Outcome: Comparable {
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Compares by severity, the worst last.
    public static func < (left: Self, right: Self) -> Bool { left.rank > right.rank }
}

extension EngineRule {
    /// The condition of a rule; the compiled plan of an engine joins the conditions of all its rules.
    enum Condition: Sendable {
        /// A value has one of the types.
        case types(TypeMask, at: Places)
        /// A double is NaN or infinite.
        case nonFinite(at: Places)
        /// A date is outside a range of milliseconds since 1970.
        case dates(outside: ClosedRange<Int64>)
        /// Binary data is not a UUID of subtype 4.
        case binary
        /// Binary data of 16 bytes has subtype 3, which each driver once wrote in an order of its own.
        case legacyUUID
        /// An object or array is nested deeper than a number of levels below its top-level field.
        case depth(over: Int)
        /// The document has more bytes.
        case size(over: Int)
        /// The document, or the JSON text of its fields, has more bytes.
        case rowSize(over: Int)
        /// The document has more fields at its top level, without the `_id`.
        case fields(over: Int)
        /// The `_id` has none of the types; binary data counts only as a UUID of subtype 4 if ``onlyUUIDs`` is set.
        case id(otherThan: TypeMask, onlyUUIDs: Bool = false)
        /// The text of the `_id` has more bytes.
        case idSize(over: Int)
        /// The text of the `_id` is also the text of another document's `_id`.
        case idText
        /// A top-level field has one of the names.
        case names([String])
        /// A value of a top-level field is lost in the column of its name.
        case column
        /// A value cannot be converted to the type of the property of its name.
        case property
        /// An array has elements that the property of its name cannot hold.
        case elements
        /// A list is absent whose property then is null.
        case absentList
        /// The document does not fit the schema of the check.
        case schema
    }

    /// The places in a document to which a condition applies.
    struct Places: OptionSet, Sendable, BitwiseCopyable {
        let rawValue: UInt8
        static var top: Self { Self(rawValue: 1) }
        static var nested: Self { Self(rawValue: 2) }
        static var anywhere: Self { [.top, .nested] }
    }
}
