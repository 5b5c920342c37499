public import BSON

/// All documents of a collection that fail in the same way at the same place.
public struct ViolationGroup: Hashable, Sendable {
    /// What is wrong.
    public var violation: Violation
    /// The documents with this finding, each once however often it has it.
    public var count: Int
    /// The `_id`s of the first of them.
    public var sampleIDs: [BSONValue]
    /// A filter that finds them all: `db.coll.find(filter)`.
    public var filter: BSONDocument
    /// Whether the filter finds no others.
    public var filterIsExact: Bool

    /// Joins the parts.
    public init(
        violation: Violation, count: Int, sampleIDs: [BSONValue], filter: BSONDocument, filterIsExact: Bool
    ) {
        self.violation = violation
        self.count = count
        self.sampleIDs = sampleIDs
        self.filter = filter
        self.filterIsExact = filterIsExact
    }
}
