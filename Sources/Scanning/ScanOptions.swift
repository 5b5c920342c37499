package import BSON
package import Checking

/// The settings of a scan: what it reads, how it judges the documents, and which resources it uses.
package struct ScanOptions: Sendable {
    /// The number of threads of a scan, each of which reads with a client of its own.
    package var threads = 2
    /// Whether the namespace is a view: it has no index, so one cursor reads it, and a lost cursor cannot resume.
    package var isView = false
    /// The rules and the data by which the documents are judged.
    package var judging = Judging()
    /// The listeners that are called with findings during the scan.
    package var listeners = Listeners()

    /// The filter that a document must match to be read; empty for all.
    package var filter: BSONDocument = [:]
    /// The range of `_id`s to read in a check of one part, and the number of parts; `nil` to read the whole collection.
    package var part: (range: IDRange, count: Int)?
    /// The filter because of which the server need not send documents that certainly fit; `nil` to read all.
    package var prefilter: Prefilter?
    /// The size of a random sample to read instead of all documents; `nil` to read all.
    package var sampleSize: Int?
    /// The number of documents per second that all threads together may read; `nil` for no limit.
    package var rate: RateLimit?
    /// The number of documents whose contributions are kept in memory; the others go to a temporary file.
    package var seenInMemory = 1 << 20
    /// The folder of the temporary file for contributions; `nil` for the folder that `TMPDIR` names, or `/tmp`.
    package var temporaryFolder: String?

    /// The time for which a member that does not answer is retried.
    package var retryLimit = Duration.seconds(60)
    /// Returns whether to stop, which ends the scan with ``ScanStopped``; called regularly by every thread.
    package var isStopped: @Sendable () -> Bool = { false }

    /// Creates the default options.
    package init() {}

    /// The rules and the data by which the documents of a scan are judged.
    package struct Judging: Sendable {
        /// The settings that decide what the tallies keep.
        package var tally = Tally.Options()
        /// The documents that the ledger already records as unsynced; `nil` if no ledger was read.
        package var ledger: LedgerIndex?
        /// The active schema, with whose verdicts the new verdicts are compared.
        package var active = ActiveSchema.notAsked
        /// The schemas of the links' targets, as far as they are known; `nil` if links are not followed.
        package var linkTargets: [Namespace: CompiledSchema]?
        /// Maps a collection of the schema to the collection of the source that holds its documents.
        package var place: @Sendable (Namespace) -> Namespace = { $0 }
        /// The exceptions; findings that they cover do not fail the check.
        package var exceptions: [FindingException] = []
    }

    /// The functions that a scan calls with its findings, on all of its threads.
    package struct Listeners: Sendable {
        /// Called with every document that fails or might fail.
        package var onFailure: (@Sendable (FailingDocument) -> Void)?
        /// Called with the `_id` of every document that is certain to fail under both the new and the active schema.
        package var onAlreadyFailing: (@Sendable (BSONValue) -> Void)?
        /// Called with every document that changed during the scan, before it is judged again.
        ///
        /// Earlier findings about this document are then void.
        package var onRetraction: (@Sendable (_ namespace: Namespace, _ id: BSONValue) -> Void)?
        /// Called with the reason, as a clause, if the reading starts over; all findings so far are then void.
        package var onRestart: (@Sendable (_ reason: String) -> Void)?
        /// Called regularly with the number of documents read since the last call; negative if reading starts over.
        package var progress: @Sendable (Int) -> Void = { _ in }
    }

    /// Returns an empty tally for one thread.
    func makeTally(_ schema: CompiledSchema, keepingContributions: Bool = false) -> Tally {
        var kept = judging.tally
        kept.keepsContributions = keepingContributions
        var tally = Tally(schema, active: judging.active, exceptions: judging.exceptions, options: kept)
        tally.onFailure = listeners.onFailure
        tally.onAlreadyFailing = listeners.onAlreadyFailing
        return tally
    }

    /// The number of cursors that read at the same time.
    ///
    /// With a prefilter there are twice as many as threads: the server judges documents for one half, while the other
    /// half waits for the network. With one thread or a rate limit, there is one for each thread.
    var readers: Int { prefilter == nil || threads == 1 || rate != nil ? threads : 2 * threads }

    /// The filter that selects the documents to read: those of one part, or those that the operator's filter matches.
    package var selection: BSONDocument { part?.range.filter ?? filter }

    /// The filter that a document must match for the server to send it.
    var readFilter: BSONDocument {
        // A view has no index whose bounds could select the part, so the filter does.
        let filter = isView ? selection : filter
        // Links of documents that fit are followed too, so the server must send every document.
        guard let prefilter, judging.linkTargets == nil else { return filter }
        let held: BSONValue = ["$nor": [.object(prefilter.proof)]]
        return filter.isEmpty ? held.document ?? [:] : ["$and": [.object(filter), held]]
    }

    /// The number of documents in a batch; large batches take memory and are no faster on a near server.
    ///
    /// With a rate limit it is the number that a thread may read in a second, so that no cursor is idle for long.
    var batchSize: Int { min(4_000, rate.map { max(1, $0.perSecond / threads) } ?? .max) }
}

/// The error that the scan was stopped before it had read everything.
package struct ScanStopped: Error {
    /// Creates the error.
    package init() {}
}
