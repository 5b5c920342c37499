public import BSON
public import ServerSchema

/// A finding that the operator has accepted: it is shown, and does not fail the check.
///
/// The server does not know of it, so the documents still count in the projection of the ledger.
public struct FindingException: Hashable, Sendable {
    /// The collection.
    public var namespace: Namespace
    /// The place, as reports spell it.
    public var path: String
    /// The rule.
    public var rule: RuleCode
    /// Why it is accepted.
    public var reason: String
    /// Who answers for it.
    public var owner: String
    /// The last day on which it holds, in UTC, as `YYYY-MM-DD`; `nil` when it holds for ever.
    public var expires: String?
    /// Where the operator wrote it.
    public var location: SourceLocation

    /// Joins the parts.
    public init(
        namespace: Namespace, path: String, rule: RuleCode, reason: String, owner: String, expires: String?,
        location: SourceLocation
    ) {
        self.namespace = namespace
        self.path = path
        self.rule = rule
        self.reason = reason
        self.owner = owner
        self.expires = expires
        self.location = location
    }

    /// Whether it no longer holds.
    /// - Parameter today: The day in UTC, as `YYYY-MM-DD`.
    public func isExpired(on today: String) -> Bool { expires.map { $0 < today } ?? false }
}
