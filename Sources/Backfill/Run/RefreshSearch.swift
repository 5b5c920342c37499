import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The digests of the values that a job wrote to documents, from the job's journal.
struct WrittenValues {
    /// The names of the fields that a chunk changed in a document, and the digest of their values after the change.
    private struct Digest: Hashable {
        let names: [String]
        let digest: JournalDigest
    }

    /// The fields that a refresh writes.
    private let targets: Set<String>
    /// The constants that steps of the job write to top-level fields, by the names of the fields.
    ///
    /// A digest may cover such a field together with a target field. If a user changed the field, the digest no longer
    /// matches the document, although the target may still hold the job's value. The comparison is therefore repeated
    /// with the constant in place of the field's current value.
    private let fillings: [String: BSONValue]
    private var digests: [BSONValue: Set<Digest>] = [:]

    /// The most fields of one digest for which a refresh tries the constants in ``fillings``.
    ///
    /// Each of these fields is tried with its current value and with its constant, which gives up to 64 combinations.
    private static let maximumFillings = 6

    init(of job: CompiledJob) {
        targets = Set((job.refreshing?.steps ?? []).flatMap(\.step.targets).map(\.topLevel))
        fillings = Dictionary(
            job.steps.compactMap { step in
                let kind = step.step.kind
                guard case .constant(let value)? = kind.filling, kind.target.components.count == 1 else { return nil }
                return (kind.target.topLevel, value)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the journal has no digest of the document's target fields.
    func isUnknown(_ id: BSONValue) -> Bool { digests[id] == nil }

    mutating func add(_ part: JournalPart, of ids: Set<BSONValue>) {
        for entry in part.entries where ids.contains(entry.id) {
            let group = part.groups[entry.group]
            guard group.names.contains(where: targets.contains) else { continue }
            digests[entry.id, default: []].insert(Digest(names: group.names, digest: group.after))
        }
    }

    /// Adds the digests that `other` has for the documents with these `_id`s.
    mutating func add(_ ids: [BSONValue], from other: WrittenValues) {
        for id in ids { digests[id, default: []].formUnion(other.digests[id] ?? []) }
    }

    /// Whether the targets of a document hold exactly the values that the job wrote.
    func isOwn(_ document: DueDocument) throws -> Bool {
        guard let before = document.change?.before, let digests = digests[document.id] else { return false }
        return try digests.contains { try matches($0, before) }
    }

    private func matches(_ digest: Digest, _ document: BSONDocument) throws -> Bool {
        let others = digest.names.filter { !targets.contains($0) && fillings[$0] != nil }.prefix(Self.maximumFillings)
        let view = document.view
        for choice in 0..<(1 << others.count) {
            let filled = Set(others.indices.filter { choice >> $0 & 1 == 1 }.map { others[$0] })
            var builder = BSONBuilder()
            for name in digest.names {
                if filled.contains(name), let value = fillings[name] {
                    builder.append(name, value)
                } else if let element = try view.find(name) {
                    builder.append(element, of: view)
                }
            }
            if JournalDigest(of: builder.finish()) == digest.digest { return true }
        }
        return false
    }
}

/// Finds the documents to refresh: their target fields still hold the values that the job wrote, but the job would now
/// write other values.
struct RefreshSearch {
    /// The documents that a search found.
    struct Found {
        /// The `_id`s of the documents to refresh.
        var own: [BSONValue] = []
        /// The digests of the values that the job wrote to these documents.
        var written: WrittenValues
        /// Whether there may be further documents to refresh, because the search ended at its limit.
        var mayHaveMore = false
    }

    /// The number of documents to refresh at which a search ends, so that their digests fit in memory.
    private static let maximum = 100_000
    /// The most documents that are compared with the journal together.
    private static let page = 100_000
    private static let batch = 1_000

    let job: CompiledJob
    let collection: MongoCollection
    let collectionUUID: BSONValue?

    /// Finds the documents to refresh.
    ///
    /// A document is refreshed only if its targets still hold the values that the job wrote; the digests in the journal
    /// show this. The result is empty if no step refreshes its target, or if no target differs from its source.
    ///
    /// Every search also reads documents whose targets another client changed. To save memory, the search reads the
    /// documents in pages, and after each page keeps only the digests of the documents to refresh.
    /// - Parameter between: called before each page, and repeatedly while a page is compared with the journal.
    func own(by journal: JournalStore, _ between: () throws -> Void) throws -> Found {
        var found = Found(written: WrittenValues(of: job))
        guard let phase = job.refreshing else { return found }
        let context = job.context(collection)
        var cursor = try DueCursor(job.scope, of: phase, .id, in: context, collectionUUID: collectionUUID)
        while true {
            try between()
            let page = try unblaming {
                try cursor.read(ReadAmount(documents: Self.page, bytes: .max)).map(\.id)
            }
            guard !page.isEmpty else { return found }
            let ids = Set(page)
            var written = WrittenValues(of: job)
            try journal.eachPart { part in
                try between()
                written.add(part, of: ids)
            }
            // The cursor may return a document twice, if the document moves in the collection during the search.
            let known = page.filter { !written.isUnknown($0) && found.written.isUnknown($0) }
            let own = try own(among: known, written, of: phase, in: context)
            found.own += own
            found.written.add(own, from: written)
            found.mayHaveMore = found.own.count >= Self.maximum
            guard !found.mayHaveMore else { return found }
        }
    }

    /// Returns the `_id`s in `ids` of the documents whose targets still hold the values that the job wrote.
    private func own(
        among ids: [BSONValue], _ written: WrittenValues, of phase: Phase, in context: ClientContext
    ) throws -> [BSONValue] {
        var own: [BSONValue] = []
        for slice in ids.commandSlices(count: Self.batch) {
            let detail = DueCursor.Detail.touched
            var documents = try DueCursor(.ids(slice), of: phase, detail, in: context, collectionUUID: collectionUUID)
            while let document = try unblaming({ try documents.next() }) {
                if try written.isOwn(document) { own.append(document.id) }
            }
        }
        return own
    }
}

/// The progress of the refreshes in a run.
struct RefreshProgress {
    /// The values that the job wrote to the documents of the current refresh, according to the job's journal; `nil`
    /// while no refresh runs.
    var written: WrittenValues?
    /// How many documents the refreshes changed.
    var documents = 0

    /// Returns the documents that still hold the values that the job wrote; while no refresh runs, returns all of them.
    func own(among documents: [DueDocument]) throws -> [DueDocument] {
        guard let written else { return documents }
        return try documents.filter { try written.isOwn($0) }
    }
}
