public import ServerSchema

/// The changes between two versions of a schema, as reports show them.
public struct DiffReport: Sendable {
    /// The older version, as the operator named it.
    public var old: String
    /// The newer version, as the operator named it.
    public var new: String
    /// The dialect by which both versions are read.
    public var dialect: Dialect
    /// The changes, in the order in which the schemas list the changed parts.
    public var changes: [SchemaChange]
    /// The removals and additions that look like renames.
    public var hints: [RenameHint]
    /// The counts of the documents that each change affects, in the order of the changes; `nil` when none were counted.
    public var weights: [ChangeWeight?]?
    /// The deployment in which the documents were counted, without secrets.
    public var source: String?
    /// The changes that fail the run.
    public var failOn = FailOn.breaking
    /// Further remarks for the reader.
    public var notes: [String] = []

    /// The changes that fail a run.
    public enum FailOn: String, Hashable, Sendable, CaseIterable {
        /// Changes that are breaking for the server or for clients.
        case breaking
        /// All changes.
        case any
        /// No changes.
        case none
    }

    /// Creates a report with the hints that follow from the changes.
    public init(old: String, new: String, dialect: Dialect, changes: [SchemaChange]) {
        self.old = old
        self.new = new
        self.dialect = dialect
        self.changes = changes
        hints = SchemaDiff.hints(in: changes)
    }

    /// The verdict of the worst single change; `nil` when nothing changed.
    public var verdict: SchemaChange.Verdict? { changes.map(\.kind.verdict).max() }

    /// The verdict for clients of the worst single change; `nil` when nothing changed.
    public var clientVerdict: SchemaChange.Verdict? { changes.map(\.client).max() }

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

    /// Returns the number of changes with a verdict.
    public func count(of verdict: SchemaChange.Verdict) -> Int { changes.count { $0.kind.verdict == verdict } }

    /// Returns the hint that a removal or an addition is half of a rename; `nil` if there is none.
    public func hint(for change: SchemaChange) -> RenameHint? {
        hints.first { $0.removed == change || $0.added == change }
    }

    /// The consequences of all changes together, with the most severe first.
    public var consequences: [ChangeKind.Consequence] {
        let all = Set(changes.flatMap(\.kind.consequences))
        return ChangeKind.Consequence.allCases.filter(all.contains)
    }
}

/// The numbers of documents that a change affects, counted before the deploy.
public struct ChangeWeight: Hashable, Sendable {
    /// The number of documents in the collection.
    public var documents: Int
    /// The number of documents that hold a value at the path of the change, including null.
    public var withField: Int
    /// The number of documents with an object that lacks the changed field, or holds null there.
    public var withoutField: Int
    /// The number of documents that hold each type at the path of the change, with the most frequent type first.
    public var types: [TypeCount]

    /// The number of documents that hold values of one type.
    public struct TypeCount: Hashable, Sendable {
        /// The type's BSON name.
        public var type: String
        /// The number of documents.
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
