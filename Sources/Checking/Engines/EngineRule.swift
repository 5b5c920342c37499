/// A rule about what a sync engine does with documents: one row of the table of rules.
///
/// `docs/reference/rules.md` has its meaning, an example, and its source.
public struct EngineRule: Sendable {
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

    /// The stable name of the rule, which begins with the name of its engine.
    public var code: RuleCode { rule.code }
    /// The engine that has the rule.
    public var engine: Engine { Engine(rawValue: String(code.rawValue.prefix { $0 != "-" })) ?? .any }

    /// Creates a row of the table: the rule, its outcome and condition, the value that the engine expects, the remedy.
    init(
        _ rule: Rule, _ outcome: Outcome, isCertain: Bool = true, _ condition: Condition, or other: Condition? = nil,
        _ expected: String, _ remedy: String
    ) {
        (self.rule, self.outcome, self.isCertain) = (rule, outcome, isCertain)
        (self.expected, self.remedy) = (expected, remedy)
        conditions = [condition] + (other.map { [$0] } ?? [])
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
        /// A value of one of the types fails a test at one of the places.
        case value(Test, TypeMask, at: Places = .anywhere)
        /// A measure of the document is over a limit.
        case over(Measure, Int)
        /// The document has a trait.
        case has(Trait)
        /// The `_id` has none of the types or, with `onlyUUIDs`, is binary data that is not a UUID of subtype 4.
        case id(otherThan: TypeMask, onlyUUIDs: Bool = false)
        /// A top-level field has one of the names, or a name with the prefix, which has at most eight bytes.
        case names([String], prefix: String = "")
        /// The SQLite column with the name of a top-level field cannot store the field's value without a loss.
        case column
        /// A value cannot be converted to the type of the ObjectBox property that has the field's name.
        case property
    }

    /// A test of a value.
    package enum Test: Sendable, BitwiseCopyable {
        /// The type alone breaks the rule.
        case always
        case nonFinite
        /// A date is outside a range of milliseconds since 1970.
        case dateOutside(Int64, Int64)
        /// Binary data is not a UUID of subtype 4.
        case notUUID
        /// Binary data of 16 bytes has subtype 3: an old UUID, whose byte order depends on the driver that wrote it.
        case legacyUUID
        /// Binary data of subtype 2 states a length that its bytes do not hold.
        case wrongLength
        case notUTF8
    }

    /// A measure of a document, which engines limit.
    package enum Measure: Sendable, BitwiseCopyable {
        /// The levels of objects and arrays below a top-level field.
        case depth
        /// The top-level fields, not counting `_id`.
        case fields
        /// The bytes of the document, and those of the text of its `_id`.
        case size, idSize
        /// The length of the JSON text of the document's fields, in UTF-16 code units and in bytes of UTF-8.
        case rowUnits, rowBytes
    }

    /// A trait of a document because of which an engine does not take it as it is.
    package enum Trait: Int, Sendable, BitwiseCopyable, CaseIterable {
        /// The `_id` is null or undefined.
        case nullID
        /// JavaScript takes the `_id` for false: 0, NaN, false or an empty text.
        case falsyID
        /// The `_id` is a value that js-bson does not read, or does not write again.
        case unreadableID
        /// The text of the `_id` is also the text of another document's `_id`.
        case idText
        /// The document has a value that js-bson does not read.
        case unreadable
        case invalidName
        /// A top-level field has the name `__proto__`, or a later field has its name.
        case lostNames
        case reservedPrefix
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
