public import BSON

/// The contents of the ledger of unsynced documents, ready to be rendered.
public struct UnsyncedReport: Hashable, Sendable {
    /// The connection string of the deployment that holds the ledger, without credentials.
    public var source: String
    /// The collections that hold the ledger; empty if there is no ledger.
    public var ledgers: [Namespace]
    /// The schema by which the ledger entries were explained; `nil` if the entries were only counted.
    public var schema: String?
    /// The number of ledger entries at which the sync engine stops.
    public var limit: Int
    /// Whether the report covers one collection only, as the operator requested.
    ///
    /// If so, documents in a collection that the schema does not cover do not count as findings.
    public var isNarrowed = false
    /// The ledger entries of each app, the app with the most entries first; ``limit`` applies to each app separately.
    public var apps: [App]
    /// Remarks for the reader on facts that no other property shows, each a clause.
    public var notes: [String]
    /// The time for reading the ledger and, if the report explains its entries, the documents that the ledger names.
    public var duration: Duration

    /// The ledger entries of one app.
    public struct App: Hashable, Sendable {
        /// The ledgers that hold entries of the app.
        public var ledgers: [Namespace]
        /// The app's internal id; `nil` if the ledger entries name no app.
        public var id: String?
        /// The ledger entries for each collection, the collection with the most documents first.
        public var collections: [Collection]

        /// Creates an instance from its parts.
        public init(ledgers: [Namespace], id: String?, collections: [Collection]) {
            self.ledgers = ledgers
            self.id = id
            self.collections = collections
        }

        /// The numbers of entries, and of distinct documents that the entries name.
        public var count: LedgerCount {
            collections.reduce(into: LedgerCount(entries: 0, documents: 0)) { sum, collection in
                sum.entries += collection.entryCount
                sum.documents = (sum.documents ?? 0) + collection.documentCount
            }
        }
        /// The number of distinct documents that the ledger entries name.
        public var documentCount: Int { count.documents ?? 0 }
        /// Returns the number of entries that the app's ledger can still take before it reaches the limit; negative if
        /// the ledger has reached the limit.
        public func headroom(limit: Int) -> Int { limit - 1 - count.entries }
    }

    /// The ledger entries for the documents of one collection.
    public struct Collection: Hashable, Sendable {
        /// The collection that the ledger entries name; `nil` for entries that do not name a document.
        public var namespace: Namespace?
        /// The number of ledger entries for the collection.
        public var entryCount: Int
        /// The number of distinct documents that the ledger entries name.
        public var documentCount: Int
        /// The reasons for being unsynced, in the sync engine's words, the most frequent first.
        public var reasons: [Reason]
        /// The current state of the documents that the ledger entries name; `nil` if the documents were not read.
        public var explanation: UnsyncedExplanation?

        /// Creates an instance from its parts.
        public init(
            namespace: Namespace?, entryCount: Int, documentCount: Int, reasons: [Reason] = [],
            explanation: UnsyncedExplanation? = nil
        ) {
            self.namespace = namespace
            self.entryCount = entryCount
            self.documentCount = documentCount
            self.reasons = reasons
            self.explanation = explanation
        }
    }

    /// A reason why documents are unsynced, as ledger entries give it.
    public struct Reason: Hashable, Sendable {
        /// The sync engine's text.
        ///
        /// `nil` for entries without a text and for a text that must not be shown. The list of reasons is limited; the
        /// entries with any further reason are counted together, also under `nil`.
        public var text: String?
        /// The number of ledger entries that give the reason.
        public var entryCount: Int

        /// Creates a reason.
        public init(text: String?, entryCount: Int) {
            self.text = text
            self.entryCount = entryCount
        }
    }

    /// Creates a report from its parts.
    public init(
        source: String, ledgers: [Namespace], schema: String? = nil, limit: Int, apps: [App], notes: [String] = [],
        duration: Duration
    ) {
        self.source = source
        self.ledgers = ledgers
        self.schema = schema
        self.limit = limit
        self.apps = apps
        self.notes = notes
        self.duration = duration
    }

    /// Masks the texts of the reasons, and joins reasons whose masked texts are equal.
    ///
    /// The texts are the sync engine's words, and may quote a document.
    /// - Parameter mask: Returns the part of a text that may be shown; `nil` if nothing may be shown.
    public mutating func maskReasons(_ mask: (String) -> String?) {
        for app in apps.indices {
            for collection in apps[app].collections.indices {
                var masked: [Reason] = []
                for reason in apps[app].collections[collection].reasons {
                    let text = reason.text.flatMap(mask)
                    if let known = masked.firstIndex(where: { $0.text == text }) {
                        masked[known].entryCount += reason.entryCount
                    } else {
                        masked.append(Reason(text: text, entryCount: reason.entryCount))
                    }
                }
                apps[app].collections[collection].reasons = masked.sorted { $0.entryCount > $1.entryCount }
            }
        }
    }

    /// The number of distinct documents of all apps.
    public var documentCount: Int { apps.reduce(0) { $0 + $1.documentCount } }

    /// The numbers of all documents that were read, by their current state; `nil` without a schema.
    public var explained: UnsyncedExplanation.Counts? {
        guard schema != nil else { return nil }
        return apps.flatMap(\.collections).compactMap(\.explanation?.counts).reduce(into: .init()) { $0 += $1 }
    }

    /// The number of distinct documents in collections that the schema does not cover; 0 without a schema.
    public var uncoveredCount: Int {
        apps.flatMap(\.collections).filter { $0.explanation == .notCovered }.reduce(0) { $0 + $1.documentCount }
    }

    /// Whether the report holds a finding: an app whose ledger has reached the limit, or a document that still fails or
    /// might fail to sync.
    ///
    /// Without a schema, every ledger entry is a finding. With a schema, every document in a collection that the schema
    /// does not cover is a finding as well, unless the report covers one collection only.
    public var hasFindings: Bool {
        if apps.contains(where: { $0.headroom(limit: limit) < 0 }) { return true }
        guard let explained else { return apps.contains { $0.count.entries > 0 } }
        return explained.failing + explained.possible > 0 || !isNarrowed && uncoveredCount > 0
    }
}
