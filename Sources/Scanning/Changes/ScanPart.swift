import BSON
import Checking

/// A document's `_id`, and the number by which the tally identifies the document's contribution to the counts.
struct Addition {
    let id: BSONValue
    let contribution: UInt32
}

/// The counts of one thread of a scan, and the documents that the thread read.
///
/// `@unchecked` is safe, because one thread fills the object and hands it over only at the end.
final class ScanPart: @unchecked Sendable {
    var tally: Tally
    /// The log of each document's contribution to the tally, so that the contribution of a changed document can be
    /// subtracted; `nil` if the scan does not follow changes.
    let seen: SeenLog?
    /// The keys of the documents in unique indexes; `nil` if there are none to compare.
    let keys: UniqueLog?
    /// The latest cluster time at which the thread read; 0 if it was not recorded.
    var readTime: UInt64 = 0

    init(_ schema: CompiledSchema, options: ScanOptions, tracksChanges: Bool) {
        tally = options.makeTally(schema, keepingContributions: tracksChanges)
        keys = UniqueLog(schema, options: options)
        seen =
            tracksChanges
            ? SeenLog(bound: options.seenInMemory / options.readers, folder: options.temporaryFolder) : nil
    }

    func add(_ document: borrowing BSONView, ledger: LedgerIndex?) throws(BSONError) {
        try tally.add(document, ledger: ledger)
        try keys?.add(document, tally.lastCounted)
        guard let seen, let key = try DocumentKey(of: document) else { return }
        seen.append(key, tally.lastContribution)
    }

    /// Returns what each changed document that this thread read contributed to the tally.
    /// - Throws: ``ChangesUnknown`` if not all contributions of these documents are known.
    func additions(of changed: ChangedIDs) throws(ChangesUnknown) -> [Addition] {
        guard let seen else { return [] }
        guard changed.count > 0 else { return [] }
        if let failure = seen.failure { throw ChangesUnknown(reason: Self.reason(failure)) }
        var additions: [Addition] = []
        do {
            try seen.forEach { key, contribution in
                if let id = changed[key] { additions.append(Addition(id: id, contribution: contribution)) }
            }
        } catch {
            throw ChangesUnknown(reason: Self.reason(error))
        }
        guard additions.allSatisfy({ tally.knows($0.contribution) }) else {
            throw ChangesUnknown(reason: "documents fail in too many ways to recount the changed ones")
        }
        return additions
    }

    /// Subtracts the contributions of changed documents from the counts.
    func subtract(_ additions: [Addition]) {
        for addition in additions { tally.take(back: addition.contribution, of: addition.id) }
    }

    private static func reason(_ error: any Error) -> String {
        "the temporary file that lists the documents read failed: \(error) (TMPDIR names its folder)"
    }
}
