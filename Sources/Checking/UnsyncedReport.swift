public import BSON

/// What the ledger of unsynced documents holds, ready to be rendered.
public struct UnsyncedReport: Hashable, Sendable {
    /// Where the ledger lies, without credentials.
    public var source: String
    /// The collections that hold it; none when there is no ledger.
    public var ledgers: [Namespace]
    /// What the entries were explained by; `nil` when only counted.
    public var schema: String?
    /// The entries at which the sync engine stops.
    public var limit: Int
    /// Whether the operator looked at one collection only, so that the others are no findings.
    public var isNarrowed = false
    /// One per app, the fullest first: the limit is for each app.
    public var apps: [App]
    /// What the reader should know beside the counts, a clause each.
    public var notes: [String]
    /// How long it took.
    public var duration: Duration

    /// The entries of one app.
    public struct App: Hashable, Sendable {
        /// The ledgers that hold them.
        public var ledgers: [Namespace]
        /// The app's internal id; `nil` when the entries name none.
        public var id: String?
        /// By collection, the fullest first.
        public var collections: [Collection]

        /// Joins the parts.
        public init(ledgers: [Namespace], id: String?, collections: [Collection]) {
            self.ledgers = ledgers
            self.id = id
            self.collections = collections
        }

        /// The entries, and the distinct documents that they name.
        public var count: LedgerCount {
            collections.reduce(into: LedgerCount(entries: 0, documents: 0)) { sum, collection in
                sum.entries += collection.entryCount
                sum.documents = (sum.documents ?? 0) + collection.documentCount
            }
        }
        /// The distinct documents that they name.
        public var documentCount: Int { count.documents ?? 0 }
        /// The entries that may still be added; negative when the limit is reached already.
        public func headroom(limit: Int) -> Int { limit - 1 - count.entries }
    }

    /// The entries of one collection.
    public struct Collection: Hashable, Sendable {
        /// Which; `nil` for entries that do not name a document.
        public var namespace: Namespace?
        /// The entries as they stand.
        public var entryCount: Int
        /// The distinct documents that they name.
        public var documentCount: Int
        /// Why they are unsynced, as the sync engine puts it, the most frequent first.
        public var reasons: [Reason]
        /// What became of the documents; `nil` when nobody looked.
        public var explanation: UnsyncedExplanation?

        /// Joins the parts.
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

    /// A reason that entries give.
    public struct Reason: Hashable, Sendable {
        /// The sync engine's text; `nil` stands for entries without one, for the rest of too many, and for a text that is
        /// not to be shown.
        public var text: String?
        /// The entries that give it.
        public var entryCount: Int

        /// Joins the two.
        public init(text: String?, entryCount: Int) {
            self.text = text
            self.entryCount = entryCount
        }
    }

    /// Joins the parts.
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

    /// Changes the texts of the reasons, and joins those that are the same then: they are the sync engine's words, and
    /// may quote a document.
    /// - Parameter mask: gives what is shown of a text, `nil` for nothing.
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

    /// The distinct documents of all apps.
    public var documentCount: Int { apps.reduce(0) { $0 + $1.documentCount } }

    /// What became of all documents that were looked at; `nil` when nobody looked.
    public var explained: UnsyncedExplanation.Counts? {
        guard schema != nil else { return nil }
        return apps.flatMap(\.collections).compactMap(\.explanation?.counts).reduce(into: .init()) { $0 += $1 }
    }

    /// The distinct documents of collections that the schema does not cover; 0 when nobody looked.
    public var uncoveredCount: Int {
        apps.flatMap(\.collections).filter { $0.explanation == .notCovered }.reduce(0) { $0 + $1.documentCount }
    }

    /// Whether the report holds a finding: an app at its limit, or a document that is not known to sync again.
    public var hasFindings: Bool {
        if apps.contains(where: { $0.headroom(limit: limit) < 0 }) { return true }
        guard let explained else { return apps.contains { $0.count.entries > 0 } }
        return explained.failing + explained.possible > 0 || !isNarrowed && uncoveredCount > 0
    }
}
