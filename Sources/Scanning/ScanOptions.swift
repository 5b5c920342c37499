package import BSON
package import Checking
import ServerSchema

/// The settings of a scan: what it reads, how it judges the documents, and which resources it uses.
package struct ScanOptions: Sendable {
    /// The number of threads of a scan; with a prefilter, ``readers`` may be twice this number.
    package var threads = 2
    /// Whether the namespace is a view.
    ///
    /// One cursor reads a whole view, because a view has no index of its own. If the cursor is lost, the reading cannot
    /// resume.
    package var isView = false
    /// Whether the collection is known to have so few documents that one thread reads them in milliseconds.
    package var isSmall = false
    /// The settings and the data by which documents are judged.
    package var judging = Judging()
    /// The functions that the scan calls, for example with its findings and its progress.
    package var listeners = Listeners()

    /// The filter that a document must match to be read; empty for all documents.
    package var filter: BSONDocument = [:]
    /// The part of the collection to check: its range of `_id`s, and the number of parts into which the collection is
    /// divided; `nil` to check the whole collection.
    package var part: (range: IDRange, count: Int)?
    /// The filter by which the server leaves out documents that certainly fit the schema; `nil` to read these documents
    /// as well.
    package var prefilter: Prefilter?
    /// The size of a random sample to read instead of all documents; `nil` to read all.
    package var sampleSize: Int?
    /// The number of documents per second that all threads together may read; `nil` for no limit.
    package var rate: RateLimit?
    /// The largest number of documents whose contributions to the counts are kept in memory.
    ///
    /// The contributions of further documents are kept in temporary files. If a document changes during the scan, its
    /// contribution is subtracted from the counts.
    package var seenInMemory = 1 << 20
    /// The folder of the temporary files; `nil` for the folder that `TMPDIR` names, or `/tmp`.
    package var temporaryFolder: String?

    /// The longest time for retries while a member does not answer.
    package var retryLimit = Duration.seconds(60)
    /// Returns whether to stop, which ends the scan with ``ScanStopped``; called regularly by every thread.
    package var isStopped: @Sendable () -> Bool = { false }

    package init() {}

    /// The settings and the data by which the documents of a scan are judged.
    package struct Judging: Sendable {
        /// The settings of each tally, such as the number of sample `_id`s that it keeps.
        package var tally = Tally.Options()
        /// The documents that the ledger of unsynced documents records; `nil` if no ledger was read.
        package var ledger: LedgerIndex?
        /// The active schema, whose verdicts are compared with the verdicts of the new schema.
        package var active = ActiveSchema.notAsked
        /// The schemas of the linked collections, as far as the caller has them; `nil` to follow no links.
        package var linkTargets: [Namespace: CompiledSchema]?
        /// Maps a collection of the schema to the collection of the deployment or source that has its documents.
        package var place: @Sendable (Namespace) -> Namespace = { $0 }
        /// The operator's exceptions; a finding that one of them covers does not make the check fail.
        package var exceptions: [FindingException] = []
    }

    /// The functions that a scan calls, on any of its threads, for example with its findings and its progress.
    package struct Listeners: Sendable {
        /// Called with every document that fails or might fail.
        package var onFailure: (@Sendable (FailingDocument) -> Void)?
        /// Called with the `_id` of every document that certainly fails under both the new and the active schema.
        package var onAlreadyFailing: (@Sendable (BSONValue) -> Void)?
        /// Called with the `_id` of a document whose earlier findings no longer count.
        ///
        /// Either the document changed during the scan, or its `_id` has the same text as the `_id` of another
        /// document. After this call, the scan judges the document again, unless the document was deleted.
        package var onRetraction: (@Sendable (_ namespace: Namespace, _ id: BSONValue) -> Void)?
        /// Called if the reading starts over, with the reason as a clause; all earlier findings no longer count.
        package var onRestart: (@Sendable (_ reason: String) -> Void)?
        /// Called regularly with the number of documents that a thread read since its last call; negative if the
        /// reading starts over.
        package var progress: @Sendable (Int) -> Void = { _ in }
    }

    /// Returns the unique indexes that the scan does not judge, with a clause for each.
    /// - Parameter server: Why indexes that only the server judges are not judged, as a clause; `nil` if they are.
    func unjudgedKeys(of schema: CompiledSchema, server: String?) -> [(name: String, reason: String)] {
        let all = selection.isEmpty && sampleSize == nil
        return schema.uniqueKeys.compactMap { key in
            let reason = all ? key.unjudged ?? (key.needsServer ? server : nil) : "not all documents were read"
            return reason.map { (key.name, "values of the unique index \(key.name) were not compared, because \($0)") }
        }
    }

    /// Returns an empty tally with the settings of the scan.
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
    /// There is one cursor for each of ``threads`` or, with a prefilter, there are two for each. Half of the cursors
    /// then wait for the network while the server judges documents for the others. With a single thread or a rate
    /// limit, the number is not doubled.
    var readers: Int { prefilter == nil || threads == 1 || rate != nil ? threads : 2 * threads }

    /// The filter that selects the documents to read: those of one part, or those that the operator's filter matches.
    package var selection: BSONDocument { part?.range.filter ?? filter }

    /// The filter that a document must match for the server to send it.
    var readFilter: BSONDocument {
        // If only a part is checked, the reads of a collection have bounds in the index of `_id`, so no filter is
        // needed to select the part. A view has no index, so there the filter selects the part.
        let filter = isView ? selection : filter
        // If links are followed, the server must send every document, because documents that fit also have links to
        // follow.
        guard let prefilter, judging.linkTargets == nil else { return filter }
        let held: BSONValue = ["$nor": [.object(prefilter.proof)]]
        return filter.isEmpty ? held.document ?? [:] : ["$and": [.object(filter), held]]
    }

    /// The number of documents in a batch; larger batches take more memory, and are not faster if the server is near.
    ///
    /// With a rate limit, a batch has at most the documents that a thread may read in a second, so that no cursor is
    /// idle for long.
    var batchSize: Int { min(4_000, rate.map { max(1, $0.perSecond / threads) } ?? .max) }
}

/// The error that the scan was stopped before it had read all documents.
package struct ScanStopped: Error {
    package init() {}
}
