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

/// All documents of a collection that fail in the same way at the same place.
public struct ViolationGroup: Hashable, Sendable {
    /// What is wrong.
    public var violation: Violation
    /// The documents with this finding, each once however often it has it.
    public var count: Int
    /// Of those, the ones that begin to fail, or to be possible; `nil` without an active schema.
    public var newCount: Int?
    /// The `_id`s of the first of them.
    public var sampleIDs: [BSONValue]
    /// The values that stand there, one per `_id` kept; all `nil` unless values were asked for.
    public var sampleValues: [BSONValue?]
    /// The exception that covers it.
    public var exception: FindingException?
    /// A filter that finds them all: `db.coll.find(filter)`.
    public var filter: BSONDocument
    /// Whether the filter finds no others.
    public var filterIsExact: Bool
    /// How many documents the server says that the filter finds; `nil` when it was not asked.
    public var provenCount: Int?

    /// Joins the parts.
    public init(
        violation: Violation, count: Int, newCount: Int? = nil, sampleIDs: [BSONValue],
        sampleValues: [BSONValue?] = [], exception: FindingException? = nil, filter: BSONDocument, filterIsExact: Bool,
        provenCount: Int? = nil
    ) {
        self.violation = violation
        self.count = count
        self.newCount = newCount
        self.sampleIDs = sampleIDs
        self.sampleValues = sampleValues
        self.exception = exception
        self.filter = filter
        self.filterIsExact = filterIsExact
        self.provenCount = provenCount
    }
}

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
