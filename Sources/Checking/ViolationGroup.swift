public import BSON

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
