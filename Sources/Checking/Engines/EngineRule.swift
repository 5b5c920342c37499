/// A rule about what a sync engine does with documents: one row of the table of rules.
///
/// `docs/reference/rules.md` has its meaning, an example, and its source.
public struct EngineRule: Sendable {
    /// The engine that has the rule.
    public internal(set) var engine = Engine.any
    /// The outcome for a document that meets the rule's condition.
    public let outcome: Outcome
    /// Whether the outcome is certain.
    ///
    /// An outcome that is not certain also depends on facts outside the document, such as the engine's settings.
    public let isCertain: Bool
    /// The advice on what to do about the documents.
    public let remedy: String
    /// The value that the engine expects, in words, such as "finite number".
    let expected: String
    let rule: Rule
    /// The conditions of the rule; a document that meets one of them has the outcome.
    package let conditions: [Condition]

    /// The stable name of the rule.
    public var code: RuleCode { rule.code }

    init(
        _ rule: Rule, _ outcome: Outcome, isCertain: Bool = true, if conditions: Condition..., expected: String,
        remedy: String
    ) {
        (self.rule, self.outcome, self.isCertain) = (rule, outcome, isCertain)
        (self.conditions, self.expected, self.remedy) = (conditions, expected, remedy)
    }

    var level: Level { outcome == .changed ? .info : isCertain ? .certain : .possible }

    /// The outcomes that a rule can have for a document, the worst first.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The engine stops its replication at the document, for all users.
        case halts
        /// The document never arrives at the clients.
        case dropped
        /// The document arrives, but one of its values is missing, cut off, or replaced, for example by 0 or null.
        case lostValue = "lost value"
        /// The value arrives as another type; nothing is lost.
        case changed
    }
}

extension EngineRule.Outcome: Comparable {
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Orders from the least severe (changed) to the most severe (halts).
    public static func < (left: Self, right: Self) -> Bool { left.rank > right.rank }
}

extension EngineRule {
    /// A condition of a rule; ``EnginePlan`` compiles the conditions of all rules of an engine into one plan.
    package enum Condition: Sendable {
        /// A value at one of the places has one of the types.
        case types(TypeMask, at: Places)
        /// A double at one of the places is NaN or infinite.
        case nonFinite(at: Places)
        /// A date is outside a range of milliseconds since 1970.
        case dates(outside: ClosedRange<Int64>)
        /// Binary data is not a UUID of subtype 4.
        case binary
        /// Binary data of subtype 2 states a length that its bytes do not hold.
        case binaryLength
        /// A text, or the name of a field, is not UTF-8.
        case text
        /// A top-level field has the name `__proto__`, or a later field has its name.
        case lostNames
        /// Binary data of 16 bytes has subtype 3: an old UUID, whose byte order depends on the driver that wrote it.
        case legacyUUID
        /// An object or array is nested more than `over` levels below its top-level field.
        case depth(over: Int)
        /// The document has more bytes than the limit.
        case size(over: Int)
        /// The JSON text of the document's fields has more UTF-16 code units than the limit.
        case rowUnits(over: Int)
        /// The JSON text of the document's fields has more bytes of UTF-8 than the limit.
        case rowBytes(over: Int)
        /// The document has more top-level fields than the limit, not counting `_id`.
        case fields(over: Int)
        /// The `_id` has none of the types or, with `onlyUUIDs`, is binary data that is not a UUID of subtype 4.
        case id(otherThan: TypeMask, onlyUUIDs: Bool = false)
        /// The `_id` is null or undefined.
        case nullID
        /// JavaScript takes the `_id` for false: 0, NaN, false or an empty text.
        case falsyID
        /// The `_id` is a value that js-bson does not read, or does not write again.
        case unreadableID
        /// The document has a value that js-bson does not read.
        case unreadable
        /// The text of the `_id` has more bytes than the limit.
        case idSize(over: Int)
        /// The text of the `_id` is also the text of another document's `_id`.
        case idText
        /// A top-level field has one of the names.
        case names([String])
        /// The SQLite column with the name of a top-level field cannot store the field's value without a loss.
        case column
        /// A value cannot be converted to the type of the ObjectBox property that has the field's name.
        case property
        /// An array has elements that the ObjectBox property with the field's name cannot hold.
        case elements
        /// An array field is absent, so the list property of the ObjectBox object is null.
        case absentList
        /// The document does not match the collection's schema.
        case schema
    }

    /// The places in a document to which a condition applies.
    package struct Places: OptionSet, Sendable, BitwiseCopyable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        static var top: Self { Self(rawValue: 1) }
        static var nested: Self { Self(rawValue: 2) }
        package static var anywhere: Self { [.top, .nested] }
    }
}
