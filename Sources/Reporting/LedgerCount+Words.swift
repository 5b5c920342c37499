import Checking

extension LedgerCount {
    /// What the ledger holds, as a sum of a verdict tells it.
    var words: String {
        guard let documents, documents < entries else { return "\(entries.grouped) in the ledger" }
        return "\(entries.entries) of \(documents.documents) in the ledger"
    }
}
