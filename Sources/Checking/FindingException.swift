public import BSON
public import ServerSchema

/// A finding that the operator has accepted: the check shows it but does not fail because of it.
///
/// The sync engine does not know of exceptions, so documents with the finding still count in the projected size of the
/// ledger.
public struct FindingException: Hashable, Sendable {
    /// The collection in which the finding is accepted.
    public var namespace: Namespace
    /// The path of the finding, as reports show it.
    public var path: String
    /// The rule of the finding.
    public var rule: RuleCode
    /// The details of the acceptance, such as the operator's reason and the last day on which it is valid.
    public var acceptance: Acceptance

    /// Creates an exception.
    public init(namespace: Namespace, path: String, rule: RuleCode, acceptance: Acceptance) {
        self.namespace = namespace
        self.path = path
        self.rule = rule
        self.acceptance = acceptance
    }
}

struct ExceptionIndex: Sendable {
    private var exceptions: [Key: [FindingException]] = [:]

    private struct Key: Hashable, Sendable {
        var path: String
        var rule: RuleCode
    }

    init(_ exceptions: [FindingException], for namespace: Namespace) {
        for exception in exceptions where exception.namespace == namespace {
            self.exceptions[Key(path: exception.path, rule: exception.rule), default: []].append(exception)
        }
    }

    func exception(for located: FindingCollector.Located, in schema: CompiledSchema) -> FindingException? {
        guard !exceptions.isEmpty else { return nil }
        let key = Key(path: schema.path(of: located).description, rule: schema.code(of: located))
        guard let candidates = exceptions[key] else { return nil }
        // An exception without a fingerprint covers every finding of its rule at its path. For other exceptions, the
        // fingerprint is computed from the text of the violation.
        if let whole = candidates.first(where: { $0.acceptance.fingerprint == nil }) { return whole }
        let fingerprint = schema.violation(located).fingerprint(in: schema.namespace)
        return candidates.first { $0.acceptance.fingerprint == fingerprint }
    }
}

/// The use of the operator's exceptions in a check.
public struct ExceptionUse: Hashable, Sendable {
    /// The file that states the exceptions.
    public var file: String
    /// The valid exceptions that cover a finding, in the file's order.
    public var matched: [FindingException]
    /// The valid exceptions that cover no finding.
    public var unmatched: [FindingException]
    /// The exceptions that have expired; each of them makes the check fail.
    public var expired: [FindingException]

    /// Creates an instance from its parts.
    public init(
        file: String, matched: [FindingException], unmatched: [FindingException], expired: [FindingException]
    ) {
        (self.file, self.matched, self.unmatched, self.expired) = (file, matched, unmatched, expired)
    }

    /// Sorts the exceptions into three groups: the expired exceptions, the valid ones that a group of findings uses,
    /// and the valid ones that no group uses.
    /// - Parameter today: The day in UTC, as `YYYY-MM-DD`.
    public init(file: String, _ exceptions: [FindingException], in collections: [CheckReport.Collection], today: String)
    {
        self.file = file
        let used = Set(collections.flatMap { $0.groups.compactMap(\.exception) })
        expired = exceptions.filter { $0.acceptance.isExpired(on: today) }
        let active = exceptions.filter { !$0.acceptance.isExpired(on: today) }
        matched = active.filter(used.contains)
        unmatched = active.filter { !used.contains($0) }
    }
}
