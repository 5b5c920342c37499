public import ServerSchema

/// What changed between two versions of a schema, as reports tell it.
public struct DiffReport: Sendable {
    /// The older version, as the operator named it.
    public var old: String
    /// The newer version, as the operator named it.
    public var new: String
    /// Whose rules both are read by.
    public var dialect: Dialect
    /// The changes, in the order of the schemas.
    public var changes: [SchemaChange]
    /// The removals and additions that look like renames.
    public var hints: [RenameHint]
    /// The documents that each change concerns, in the order of the changes; `nil` when none were counted.
    public var weights: [ChangeWeight?]?
    /// The deployment that they were counted in, without secrets.
    public var source: String?
    /// Which changes fail the run.
    public var failOn = FailOn.breaking
    /// What the reader should know beside.
    public var notes: [String] = []

    /// Which changes fail a run.
    public enum FailOn: String, Hashable, Sendable, CaseIterable {
        /// Those that break the server's side or the clients'.
        case breaking
        /// All.
        case any
        /// None.
        case none
    }

    /// Joins the parts.
    public init(old: String, new: String, dialect: Dialect, changes: [SchemaChange]) {
        self.old = old
        self.new = new
        self.dialect = dialect
        self.changes = changes
        hints = SchemaDiff.hints(in: changes)
    }

    /// The worst single change decides; `nil` when nothing changed.
    public var verdict: SchemaChange.Verdict? { changes.map(\.kind.verdict).max() }

    /// Whether a change fails the run.
    public func fails(_ change: SchemaChange) -> Bool {
        switch failOn {
        case .breaking: change.kind.verdict == .breaking
        case .any: true
        case .none: false
        }
    }

    /// Whether the run fails.
    public var hasFailed: Bool { changes.contains(where: fails) }

    /// The number of changes with a verdict.
    public func count(of verdict: SchemaChange.Verdict) -> Int { changes.count { $0.kind.verdict == verdict } }

    /// The hint that a removal or an addition is half of a rename.
    public func hint(for change: SchemaChange) -> RenameHint? {
        hints.first { $0.removed == change || $0.added == change }
    }

    /// What all changes together lead to, the heaviest first.
    public var consequences: [ChangeKind.Consequence] {
        let all = Set(changes.flatMap(\.kind.consequences))
        return ChangeKind.Consequence.allCases.filter(all.contains)
    }
}

/// How many documents a change concerns, as they are before the deploy.
public struct ChangeWeight: Hashable, Sendable {
    /// The documents of the collection.
    public var documents: Int
    /// Those that hold a value at the place, be it null.
    public var holding: Int
    /// Those with an object that lacks the field, or holds null there.
    public var lacking: Int
    /// Those that hold each type at the place, by the type's BSON name, the most frequent first.
    public var types: [TypeCount]

    /// How many documents hold a type.
    public struct TypeCount: Hashable, Sendable {
        /// The type's BSON name.
        public var type: String
        /// The documents.
        public var documents: Int

        /// Joins the two.
        public init(type: String, documents: Int) {
            self.type = type
            self.documents = documents
        }
    }

    /// Joins the parts.
    public init(documents: Int, holding: Int, lacking: Int, types: [TypeCount]) {
        self.documents = documents
        self.holding = holding
        self.lacking = lacking
        self.types = types
    }
}
