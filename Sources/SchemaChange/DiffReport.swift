public import ServerSchema

/// The changes between two versions of a schema, as reports show them.
public struct DiffReport: Sendable {
    /// The name of the older version, as the operator wrote it.
    public var old: String
    /// The name of the newer version, as the operator wrote it.
    public var new: String
    /// The dialect of both versions.
    public var dialect: Dialect
    /// The changes, in the order in which ``SchemaDiff`` returns them.
    public var changes: [SchemaChange]
    /// The pairs of a removal and an addition that look like renames.
    public let hints: [RenameHint]
    private let hintOf: [SchemaChange: RenameHint]
    /// The fields whose values newer clients may not see, because a document has them under the older name.
    public var moves: [ValueMove]
    /// The counts of the documents that each change affects, in the order of the changes; `nil` if none were counted.
    ///
    /// The count is `nil` for a change that affects no collection of the older schema.
    public var weights: [ChangeWeight?]?
    /// The name of the deployment in which the documents were counted, without secrets.
    public var source: String?
    /// The changes that make the run fail.
    public var failOn = FailOn.breaking
    /// The changes that the operator accepts, without those whose acceptance has expired.
    public var accepted: [AcceptedChange] = []
    /// The acceptances that have expired.
    public var expired: [AcceptedChange] = []
    /// Whether the older version is a validator, and the newer one stands for what a Prisma client reads.
    public var isOfClient = false
    /// Notes for the user that belong to no single change.
    public var notes: [String] = []

    /// The choice of the changes that make a run fail.
    public enum FailOn: String, Hashable, Sendable, CaseIterable {
        /// A change that is breaking for the server or for clients makes the run fail.
        case breaking
        /// Every change makes the run fail.
        case any
        /// No change makes the run fail.
        case none
    }

    /// Creates a report on the changes; finds the removals and additions among them that look like renames.
    /// - Parameters:
    ///   - removed: the fields that the operator states as removed for good, as `DATABASE.COLLECTION.PATH`.
    ///   - renames: the renames that the operator states.
    public init(
        old: String, new: String, dialect: Dialect, changes: [SchemaChange], removed: [String] = [],
        renames: [Rename] = []
    ) {
        self.old = old
        self.new = new
        self.dialect = dialect
        self.changes = changes
        hints = SchemaDiff.hints(in: changes)
        hintOf = Dictionary(hints.flatMap { [($0.removed, $0), ($0.added, $0)] }) { first, _ in first }
        moves = SchemaDiff.moves(in: changes, removed: removed, renames: renames)
    }

    /// The verdict of the most severe change; `nil` if nothing changed.
    public var verdict: SchemaChange.Verdict? { changes.map(\.kind.verdict).max() }

    /// The most severe verdict for clients among the changes; `nil` if nothing changed.
    public var clientVerdict: SchemaChange.Verdict? { changes.map(\.client).max() }

    /// Whether a change makes the run fail; a change that the operator accepts does not.
    public func fails(_ change: SchemaChange) -> Bool {
        guard acceptance(of: change) == nil else { return false }
        return switch failOn {
        case .breaking: change.kind.verdict == .breaking
        case .any: true
        case .none: false
        }
    }

    /// Returns the operator's acceptance of a change; `nil` if there is none.
    public func acceptance(of change: SchemaChange) -> Acceptance? {
        accepted.first { $0.covers(change) }?.acceptance
    }

    /// Returns the expired acceptance of a change; `nil` if there is none, or if a valid acceptance covers the change.
    public func expiredAcceptance(of change: SchemaChange) -> Acceptance? {
        acceptance(of: change) == nil ? expired.first { $0.covers(change) }?.acceptance : nil
    }

    /// Whether a change makes the run of the command fail.
    public var hasFailed: Bool { changes.contains(where: fails) }

    /// Returns the number of changes with this verdict.
    public func count(of verdict: SchemaChange.Verdict) -> Int { changes.count { $0.kind.verdict == verdict } }

    /// Returns the possible rename of which a change is the removal or the addition; `nil` if there is none.
    public func hint(for change: SchemaChange) -> RenameHint? { hintOf[change] }

    /// The consequences of all changes together, with the most severe first.
    public var consequences: [ChangeKind.Consequence] {
        let all = Set(changes.flatMap(\.kind.consequences))
        return ChangeKind.Consequence.allCases.filter(all.contains)
    }
}

extension DiffReport {
    /// Records how many documents a new unique index refuses, which decides the verdict on the change.
    package mutating func weigh(_ index: Int, refused: Int) {
        weights?[index]?.refused = refused
        if refused > 0 { changes[index].kind = .uniqueRefused }
    }
}

/// The numbers of documents that a change affects, counted before the newer schema is deployed.
public struct ChangeWeight: Hashable, Sendable {
    /// The number of documents in the collection.
    public var documents: Int
    /// The number of documents that have a value at the path of the change, including null.
    public var withField: Int
    /// The number of documents in which at least one object that should have the changed field lacks it, or has null in
    /// it.
    public var withoutField: Int
    /// The number of documents with values of each type at the path of the change, from the most to the least frequent.
    public var types: [TypeCount]
    /// The number of documents that a new unique index refuses; `nil` if they were not counted.
    public internal(set) var refused: Int?

    /// The number of documents with values of one type.
    public struct TypeCount: Hashable, Sendable {
        /// The type's BSON name.
        public var type: String
        /// The number of documents with values of the type.
        public var documents: Int

        /// Creates a count from its parts.
        public init(type: String, documents: Int) {
            self.type = type
            self.documents = documents
        }
    }

    /// Creates a weight from its parts.
    public init(documents: Int, withField: Int, withoutField: Int, types: [TypeCount]) {
        self.documents = documents
        self.withField = withField
        self.withoutField = withoutField
        self.types = types
    }
}
