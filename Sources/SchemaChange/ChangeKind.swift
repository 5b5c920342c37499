/// A kind of change with its verdicts: the rows of `semantics.md`, section 6, of the project's reference.
///
/// Several kinds may share a code where only circumstances differ: a removal has one code, whether the property was
/// required or not.
public struct ChangeKind: Hashable, Sendable {
    /// The stable name.
    public let code: SchemaChange.Code
    /// Whether the server can apply it in place.
    public let server: SchemaChange.Verdict
    /// Whether clients in the field go on working with it.
    public let client: SchemaChange.Verdict
    /// What follows, the heaviest first.
    public let consequences: [Consequence]
    /// What to do, in one or two sentences.
    public let advice: String
    /// Where the verdicts come from.
    public let source: Source

    init(
        _ code: SchemaChange.Code, server: SchemaChange.Verdict, client: SchemaChange.Verdict,
        then consequences: [Consequence], _ source: Source, do advice: String
    ) {
        self.code = code
        self.server = server
        self.client = client
        self.consequences = consequences
        self.advice = advice
        self.source = source
    }

    /// The worse of the two verdicts.
    public var verdict: SchemaChange.Verdict { max(server, client) }

    /// What a change leads to.
    public enum Consequence: String, Hashable, Sendable, CaseIterable {
        /// Sync is terminated and enabled again.
        case terminate
        /// Every client starts over, and loses what it had not uploaded.
        case clientReset = "client-reset"
        /// Clients that use what changes start over.
        case someClientsReset = "some-clients-reset"
        /// The server reads the collection again; changes halt meanwhile.
        case resync
        /// The server may read the collection again.
        case mayResync = "may-resync"
        /// Documents that do not conform stop syncing.
        case unsyncedDocuments = "unsynced-documents"
        /// The server refuses writes of documents that do not conform.
        case refusedWrites = "refused-writes"
        /// Clients that hold a local file raise their schema version or migrate it.
        case clientMigration = "client-migration"
        /// Devices catch up with history to that point.
        case catchUp = "catch-up"
        /// Functions, rules and the Data API validate by it; sync does not.
        case dataAccess = "data-access"
    }

    /// Where verdicts come from.
    public struct Source: Hashable, Sendable {
        /// How sure they are.
        public enum Basis: String, Hashable, Sendable {
            /// A page of the documentation says so.
            case documented
            /// The documentation has it in part; the rest follows from it.
            case partly = "partly-documented"
            /// It follows from what is documented elsewhere; the severer reading holds.
            case inferred
        }

        /// How sure they are.
        public let basis: Basis
        /// The page, or what they follow from.
        public let text: String
        /// The row of the quick reference on "Update Your Schema", where there is one.
        public let quickReference: String?

        static func quickReference(_ row: String) -> Self {
            Self(basis: .documented, text: "App Services: Update Your Schema", quickReference: row)
        }

        static func documented(_ text: String) -> Self { Self(basis: .documented, text: text, quickReference: nil) }
        static func partly(_ text: String) -> Self { Self(basis: .partly, text: text, quickReference: nil) }
        static func inferred(_ text: String) -> Self { Self(basis: .inferred, text: text, quickReference: nil) }
    }
}

extension SchemaChange.Verdict: Comparable {
    private var rank: Int {
        switch self {
        case .nonBreaking: 0
        case .served: 1
        case .versioned: 2
        case .breaking: 3
        }
    }

    /// By severity.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}
