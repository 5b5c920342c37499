/// How much the ledger of unsynced documents holds for an app.
public struct LedgerCount: Hashable, Sendable {
    /// The entries, in all places where the app has some.
    ///
    /// They count against the limit. An entry names one document at most, so they are never fewer than the documents, and
    /// which of the two numbers the sync engine counts is documented nowhere.
    public var entries: Int
    /// The distinct documents that they name; `nil` when only the entries were counted.
    public var documents: Int?

    /// Joins the two.
    public init(entries: Int, documents: Int? = nil) {
        self.entries = entries
        self.documents = documents
    }

    /// What the reader should know where the two numbers differ, a clause.
    public var warning: String? {
        guard let documents, documents < entries else { return nil }
        return
            "the ledger has \(entries) entries of \(documents) distinct documents; the entries count against the limit, "
            + "since nobody documents which of the two the sync engine counts"
    }
}
