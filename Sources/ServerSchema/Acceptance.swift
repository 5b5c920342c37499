/// An entry in the file of exceptions, by which the operator accepts a finding or a change.
public struct Acceptance: Hashable, Sendable {
    /// The identity of the only finding or change that is accepted; `nil` to accept every one of the same kind at the
    /// same path.
    public var fingerprint: Fingerprint?
    /// The reason why the operator accepts the finding or change.
    public var reason: String
    /// The person or team that answers for the acceptance.
    public var owner: String
    /// The last day on which the acceptance is valid, in UTC, as `YYYY-MM-DD`; `nil` if it never expires.
    public var expires: String?
    /// The position of the acceptance in the operator's file.
    public var location: SourceLocation

    /// Creates an acceptance from its parts.
    public init(
        fingerprint: Fingerprint? = nil, reason: String, owner: String, expires: String?, location: SourceLocation
    ) {
        self.fingerprint = fingerprint
        self.reason = reason
        self.owner = owner
        self.expires = expires
        self.location = location
    }

    /// Whether the acceptance has expired.
    /// - Parameter today: The day in UTC, as `YYYY-MM-DD`.
    public func isExpired(on today: String) -> Bool { expires.map { $0 < today } ?? false }
}
