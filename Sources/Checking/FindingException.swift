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

/// Finds the exception that covers a finding.
struct ExceptionIndex: Sendable {
    private var exceptions: [Key: FindingException] = [:]

    private struct Key: Hashable, Sendable {
        var path: String
        var rule: RuleCode
    }

    init(_ exceptions: [FindingException], for namespace: Namespace) {
        for exception in exceptions where exception.namespace == namespace {
            self.exceptions[Key(path: exception.path, rule: exception.rule)] = exception
        }
    }

    func exception(for located: FindingCollector.Located, in schema: CompiledSchema) -> FindingException? {
        guard !exceptions.isEmpty else { return nil }
        return exceptions[Key(path: schema.path(of: located).description, rule: schema.code(of: located))]
    }
}

/// What became of the operator's exceptions in a check.
public struct ExceptionUse: Hashable, Sendable {
    /// The file that states them.
    public var file: String
    /// Those that hold and cover a finding, in the file's order.
    public var matched: [FindingException]
    /// Those that hold, and cover nothing that was found.
    public var unmatched: [FindingException]
    /// Those that no longer hold: each is a finding itself.
    public var expired: [FindingException]

    /// Joins the parts.
    public init(
        file: String, matched: [FindingException], unmatched: [FindingException], expired: [FindingException]
    ) {
        (self.file, self.matched, self.unmatched, self.expired) = (file, matched, unmatched, expired)
    }

    /// Sorts the exceptions by what the collections' groups say of them.
    /// - Parameter today: The day in UTC, as `YYYY-MM-DD`.
    public init(file: String, _ exceptions: [FindingException], in collections: [CheckReport.Collection], today: String)
    {
        self.file = file
        let used = Set(collections.flatMap { $0.groups.compactMap(\.exception) })
        expired = exceptions.filter { $0.isExpired(on: today) }
        let holding = exceptions.filter { !$0.isExpired(on: today) }
        matched = holding.filter(used.contains)
        unmatched = holding.filter { !used.contains($0) }
    }
}
