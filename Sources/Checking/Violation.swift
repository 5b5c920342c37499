public import BSON
public import ServerSchema

/// One problem of one document, or one fact about it that is worth knowing.
///
/// A violation describes a value by its type. It holds the value itself only if the operator set `--show-values`.
public struct Violation: Hashable, Sendable {
    /// The path of the value in the document.
    public let path: SchemaPath
    /// The rule that the document breaks.
    public let rule: RuleCode
    /// How certain it is that the document does not sync.
    public let level: Level
    /// The value that the schema or the sync engine expects, in words.
    public let expected: String
    /// The type of the value that was found, with details, in words.
    public let found: String
    /// The value that was found; `nil` without `--show-values`.
    public var value: BSONValue?

    /// Creates a violation.
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

extension Violation {
    /// Returns an identity by which later checks of the collection recognize the violation.
    ///
    /// The identity depends on the types that are expected and found, so that a value of another wrong type is another
    /// violation. It does not depend on the database, because several databases can have the same collections.
    public func fingerprint(in namespace: Namespace) -> Fingerprint {
        Fingerprint(of: ["check", namespace.collection, rule.rawValue, "\(path)", expected, found])
    }
}

extension Violation: CustomStringConvertible {
    /// The path, the rule, and the descriptions of the expected and the found value.
    public var description: String { "\(path): \(rule), expected \(expected), found \(found)" }
}

/// All documents of a collection that have the same violation at the same path.
public struct ViolationGroup: Hashable, Sendable {
    /// The violation that the documents share.
    public var violation: Violation
    /// The type of the value that was found; `nil` if the value is missing, or if the group was read from a report.
    public var foundType: BSONType?
    /// The number of documents with this violation; a document counts once, however often the violation occurs in it.
    public var count: Int
    /// The number of the group's documents whose verdict is worse under the new schema than under the active schema;
    /// `nil` if the check has no active schema.
    public var newCount: Int?
    /// The `_id`s of a few documents of the group.
    public var sampleIDs: [BSONValue]
    /// The values that have the violation, one for each of ``sampleIDs``.
    ///
    /// All are `nil` if the check did not keep values. The array is empty if the group was read from a report.
    public var sampleValues: [BSONValue?]
    /// The schemas of `oneOf` and `anyOf` that the values select, from the document inwards.
    ///
    /// The list is empty if the schema of the finding is in none, or if the group was read from a report.
    public var branches: [SchemaBranch]
    /// The exception with which the operator has accepted the group; `nil` if there is none.
    public var exception: FindingException?
    /// A filter that finds all documents of the group: `db.coll.find(filter)`.
    public var filter: BSONDocument
    /// Whether the filter finds only documents of the group.
    public var filterIsExact: Bool
    /// The number of documents that the filter finds on the server; `nil` if the server was not asked.
    public var provenCount: Int?

    /// The values that several documents have in a unique index; `nil` for any other rule.
    public var equalKeys: EqualKeys?

    /// The consequence that breaking the rule has in the sync engine; `nil` for a rule of the schema.
    public var outcome: EngineRule.Outcome? { EngineRule.named(violation.rule)?.outcome }

    /// Creates a group.
    public init(
        violation: Violation, foundType: BSONType? = nil, count: Int, newCount: Int? = nil, sampleIDs: [BSONValue],
        sampleValues: [BSONValue?] = [], branches: [SchemaBranch] = [], exception: FindingException? = nil,
        filter: BSONDocument, filterIsExact: Bool, provenCount: Int? = nil
    ) {
        self.violation = violation
        self.foundType = foundType
        self.count = count
        self.newCount = newCount
        self.sampleIDs = sampleIDs
        self.sampleValues = sampleValues
        self.branches = branches
        self.exception = exception
        self.filter = filter
        self.filterIsExact = filterIsExact
        self.provenCount = provenCount
    }
}

/// How certain it is that a finding keeps its document from syncing.
public enum Level: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// Nothing is wrong; the finding is only worth knowing.
    case info
    /// The document syncs, but the operator should look at it.
    case warning
    /// The document might stop syncing: the sync engine's behaviour is not documented, or depends on its settings or
    /// its version.
    case possible
    /// The document does not sync.
    case certain
}

extension Level: Comparable {
    /// Orders from the least severe (info) to the most severe (certain).
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
}

extension Level: CustomStringConvertible {
    /// The level's name, as reports show it.
    public var description: String { Self.names[Int(rawValue)] }

    static let names = ["info", "warning", "possible", "certain"]
}
