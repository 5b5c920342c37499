package import BSON
package import Checking

/// What a scan may use, and what it is asked for.
package struct ScanOptions: Sendable {
    /// Ranges read at once, each by a thread and a client of its own.
    package var threads = 2
    /// Whether the namespace is a view: it has no index of its own to walk, so it is read by one cursor, and a lost one
    /// cannot be reopened where it was.
    package var isView = false
    /// By what the documents are judged.
    package var judging = Judging()
    /// Who is told of what is found meanwhile.
    package var listeners = Listeners()

    /// What a document must match to be read; empty for all.
    package var filter: BSONDocument = [:]
    /// The only range to read, and how many such ranges the collection is cut into.
    package var part: (range: IDRange, count: Int)?
    /// What proves a document good, so that the server need not send it; `nil` to read all.
    package var prefilter: Prefilter?
    /// How many documents to take at random instead of reading all.
    package var sampleSize: Int?
    /// The documents per second that all threads together may read.
    package var rate: RateLimit?
    /// The documents of which it is kept in memory what they added to the counts; of more, a temporary file tells.
    package var seenInMemory = 1 << 20
    /// Where that file is; `nil` for `TMPDIR`, or `/tmp`.
    package var temporaryFolder: String?

    /// How long a member that does not answer is tried again.
    package var patience = Duration.seconds(60)
    /// Asked now and then, from every thread of the scan; a yes ends it with ``ScanStopped``.
    package var isStopped: @Sendable () -> Bool = { false }

    /// The defaults.
    package init() {}

    /// By what the documents of a scan are judged.
    package struct Judging: Sendable {
        /// What the tallies keep.
        package var tally = Tally.Options()
        /// The documents that are recorded as unsynced already.
        package var ledger: LedgerIndex?
        /// The schema that is live now, to compare with.
        package var active = ActiveSchema.notAsked
        /// The schemas of the collections that links lead to, where they are known; `nil` leaves links unfollowed.
        package var linkTargets: [Namespace: CompiledSchema]?
        /// Where the documents of a collection of the schema are.
        package var place: @Sendable (Namespace) -> Namespace = { $0 }
        /// The findings that do not fail the check.
        package var exceptions: [FindingException] = []
    }

    /// Who is told of what a scan finds, while it goes on; by every thread of it.
    package struct Listeners: Sendable {
        /// Told of every document that fails or may fail.
        package var onFailure: (@Sendable (FailingDocument) -> Void)?
        /// Told of the `_id` of every document that fails under both schemas.
        package var onAlreadyFailing: (@Sendable (BSONValue) -> Void)?
        /// Told of every document that changed meanwhile, before it is judged again: what was told of it is void.
        package var onRetraction: (@Sendable (_ namespace: Namespace, _ id: BSONValue) -> Void)?
        /// Told, with a clause that says why, when the reading begins again: all that was told of failures is void.
        package var onRestart: (@Sendable (_ reason: String) -> Void)?
        /// Told now and then how many more documents were read; fewer when it begins again.
        package var progress: @Sendable (Int) -> Void = { _ in }
    }

    /// A tally of one thread, which has counted nothing.
    func makeTally(_ schema: CompiledSchema, keepingContributions: Bool = false) -> Tally {
        var kept = judging.tally
        kept.keepsContributions = keepingContributions
        var tally = Tally(schema, active: judging.active, exceptions: judging.exceptions, options: kept)
        tally.onFailure = listeners.onFailure
        tally.onAlreadyFailing = listeners.onAlreadyFailing
        return tally
    }

    /// How many cursors read at once: with a prefilter twice as many, as one half waits for the link while the server judges
    /// for the other.
    var readers: Int { prefilter == nil || threads == 1 || rate != nil ? threads : 2 * threads }

    /// The filter that selects the documents to read.
    package var selection: BSONDocument { part?.range.filter ?? filter }

    /// What a document must match to be sent.
    var readFilter: BSONDocument {
        // A view has no index whose bounds a part could be.
        let filter = isView ? selection : filter
        // Links are followed of documents that fit, too.
        guard let prefilter, judging.linkTargets == nil else { return filter }
        let held: BSONValue = ["$nor": [.object(prefilter.proof)]]
        return filter.isEmpty ? held.document ?? [:] : ["$and": [.object(filter), held]]
    }

    /// Documents of a batch: larger ones take memory and give nothing on a near server; with a limit, what a thread may read
    /// in a second, so that no cursor idles for long.
    var batchSize: Int { min(4_000, rate.map { max(1, $0.perSecond / threads) } ?? .max) }
}

/// The scan was asked to stop before it had read everything.
package struct ScanStopped: Error {
    /// Made by the scan.
    package init() {}
}
