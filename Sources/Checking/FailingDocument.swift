public import BSON

/// A document that fails, or may fail, with all that is wrong with it.
public struct FailingDocument: Hashable, Sendable {
    /// Its collection.
    public var namespace: Namespace
    /// Its `_id`; ``BSONValue/undefined`` when it has none.
    public var id: BSONValue
    /// How it fares under the schema.
    public var verdict: Verdict
    /// How it fares under the active schema; `nil` when there is none to compare with.
    public var active: Verdict?
    /// Whether the ledger records it already.
    public var isInLedger: Bool
    /// Whether exceptions cover all for which it fails.
    public var isExcepted: Bool
    /// What is wrong, each finding once.
    public var violations: [Violation]
}
