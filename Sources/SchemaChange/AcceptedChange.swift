public import BSON
public import ServerSchema

/// A change of the schema that the operator has accepted: `diff` shows it but does not fail because of it.
public struct AcceptedChange: Hashable, Sendable {
    /// The collection, by its name in the newer schema; `nil` for a change of the whole app.
    public var namespace: Namespace?
    /// The path of the change, as reports spell it.
    public var path: String
    /// The kind of the change.
    public var code: SchemaChange.Code
    /// The identity of the only change that is accepted; `nil` to accept every change of the kind at the path.
    public var fingerprint: Fingerprint?
    /// The reason why the operator accepts the change.
    public var reason: String
    /// The person or team that answers for the acceptance.
    public var owner: String
    /// The last day on which the acceptance is valid, in UTC, as `YYYY-MM-DD`; `nil` if it never expires.
    public var expires: String?
    /// The position of the acceptance in the operator's file.
    public var location: SourceLocation

    /// Creates an acceptance from its parts.
    public init(
        namespace: Namespace?, path: String, code: SchemaChange.Code, fingerprint: Fingerprint?, reason: String,
        owner: String, expires: String?, location: SourceLocation
    ) {
        self.namespace = namespace
        self.path = path
        self.code = code
        self.fingerprint = fingerprint
        self.reason = reason
        self.owner = owner
        self.expires = expires
        self.location = location
    }

    /// Whether the acceptance is for this change.
    func covers(_ change: SchemaChange) -> Bool {
        change.code == code && change.namespace == namespace && "\(change.path)" == path
            && (fingerprint == nil || fingerprint == change.fingerprint)
    }
}
