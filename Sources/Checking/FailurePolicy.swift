public import BSON
public import SchemaChange

/// The setting that decides which findings make a check fail.
public struct FailurePolicy: Hashable, Sendable {
    /// The failing documents that make a check fail.
    public enum Documents: String, Hashable, Sendable {
        /// Only documents at which the sync engine stops its replication make the check fail.
        case none
        /// A document makes the check fail if it fails under the new schema but not under the active one, or if the
        /// sync engine stops its replication at the document. If the check knows no active schema, this is the same as
        /// ``all``. Documents whose findings are all covered by exceptions do not count.
        case new
        /// Every failing document that no exception covers makes the check fail, even if the ledger already records it.
        case all
    }

    /// The failing documents that make a check fail.
    public var documents: Documents
    /// Whether documents that might stop syncing make the check fail, too.
    public var includesPossible: Bool
    /// Whether a breaking change of the schema makes the check fail even if all documents match the new schema.
    public var includesChange: Bool
    /// The largest number or share of documents that may fail; `nil` means 0.
    ///
    /// The limit applies to the documents of all collections together, apart from the collections and rules with a
    /// limit of their own in ``thresholds``.
    public var maximum: FailingLimit?
    /// The limits for single collections and rules.
    public var thresholds: [FailingThreshold] = []
    /// Whether the check fails if a finding applies to far more documents than in earlier checks.
    public var includesAnomalies: Bool

    /// Creates a policy.
    public init(
        documents: Documents = .all, includesPossible: Bool = false, includesChange: Bool = false,
        includesAnomalies: Bool = false
    ) {
        self.documents = documents
        self.includesPossible = includesPossible
        self.includesChange = includesChange
        self.includesAnomalies = includesAnomalies
    }

    /// Whether the policy makes a report fail.
    ///
    /// Under every policy, a report fails if sync as a whole has stopped or would stop, or if the sync engine stops its
    /// replication at a document with a finding that no exception covers. A report also fails if an exception has
    /// expired, or if a collection that may hold documents loses its schema.
    public func fails(_ report: CheckReport) -> Bool {
        report.verdict.band >= .syncWillStop || failsByDocuments(report) || failsByChange(report)
    }

    /// Whether the report fails because of the effects of the schema change on sync and the clients.
    ///
    /// A change that the operator accepts is still unsafe, but does not make the report fail. Documents that hold
    /// values only under the older name of a field make it fail, until the operator settles whether it is a rename.
    public func failsByChange(_ report: CheckReport) -> Bool {
        guard includesChange else { return false }
        return report.openMoves.contains { $0.documents != nil }
            || report.changeSeverity == .unsafe && !report.isChangeAccepted
    }

    /// Whether the report fails because of documents, an expired exception, or a collection that loses its schema.
    public func failsByDocuments(_ report: CheckReport) -> Bool {
        if report.exceptions?.expired.isEmpty == false || !report.lost.isEmpty || report.haltingCount > 0 {
            return true
        }
        return uses(in: report).contains(where: \.isExceeded)
    }

    /// Returns the groups of findings that make a report fail, each with its collection.
    public func failingGroups(in report: CheckReport) -> [(namespace: Namespace, group: ViolationGroup)] {
        report.collections.flatMap { collection in
            collection.groups.filter { fails($0) && !accepts($0, of: collection, in: report) }
                .map { (collection.namespace, $0) }
        }
    }

    /// Returns the changes of the schema that make a report fail.
    public func failingChanges(in report: CheckReport) -> [SchemaChange] {
        failsByChange(report) ? report.unacceptedChanges : []
    }

    /// Whether a group of findings makes its report fail if no limit accepts the group's documents.
    public func fails(_ group: ViolationGroup) -> Bool {
        guard group.exception == nil, group.violation.level >= (includesPossible ? .possible : .certain) else {
            return false
        }
        switch documents {
        case .none: return false
        case .new: return (group.newCount ?? group.count) > 0
        case .all: return true
        }
    }
}
