public import BSON
public import ServerSchema

/// A change of the schema that the operator has accepted: `diff` shows it but does not fail because of it.
public struct AcceptedChange: Hashable, Sendable {
    /// The collection, by its name in the newer schema; `nil` for a change of the whole app.
    public var namespace: Namespace?
    /// The path of the change, as reports write it.
    public var path: String
    /// The kind of the change.
    public var code: SchemaChange.Code
    /// The entry of the file of exceptions by which the operator accepts the change.
    public var acceptance: Acceptance

    /// Creates an instance from its parts.
    public init(namespace: Namespace?, path: String, code: SchemaChange.Code, acceptance: Acceptance) {
        self.namespace = namespace
        self.path = path
        self.code = code
        self.acceptance = acceptance
    }

    /// Whether the acceptance applies to this change.
    func covers(_ change: SchemaChange) -> Bool {
        change.code == code && change.namespace == namespace && "\(change.path)" == path
            && (acceptance.fingerprint == nil || acceptance.fingerprint == change.fingerprint)
    }
}
