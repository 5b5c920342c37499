import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The newest values that a job wrote to the targets of a refresh, from the job's journal.
struct WrittenValues: Sendable {
    /// For each step, the paths that the refresh writes, up to the elements of a list, and whether it writes in those.
    private let steps: [(targets: [[String]], isInElements: Bool)]
    /// For each document, the paths that the job wrote, with the digests of the newest values.
    private var digests: [BSONValue: [[String]: JournalDigest]] = [:]

    init(of job: CompiledJob) {
        steps = (job.refreshing?.steps ?? []).map { step in
            let targets = step.step.targets
            return (targets.map(\.untilElements.components), targets.contains(where: \.leadsIntoElements))
        }
    }

    /// Whether the journal has no value of the document's targets.
    func isUnknown(_ id: BSONValue) -> Bool { digests[id] == nil }

    /// Adds the values of a part of the journal; the caller adds the parts in the order in which they were committed.
    mutating func add(_ part: JournalPart, of ids: Set<BSONValue>) {
        for entry in part.entries where ids.contains(entry.id) {
            let group = part.groups[entry.group]
            for (index, name) in group.names.enumerated() {
                let written = group.paths[name] ?? [([name], group.after[index])]
                for (path, after) in written where steps.flatMap(\.targets).contains(where: { $0.starts(with: path) }) {
                    digests[entry.id, default: [:]][path] = after
                }
            }
        }
    }

    /// Adds the values that `other` has for the documents with these `_id`s.
    mutating func add(_ ids: [BSONValue], from other: WrittenValues) {
        for id in ids { digests[id] = other.digests[id] }
    }

    /// Returns the document with the changes of the steps whose targets still hold the newest values that the job wrote
    /// there; `nil` if there is no such step.
    func own(_ document: DueDocument) throws -> DueDocument? {
        guard let change = document.change, let digests = digests[document.id] else { return nil }
        var (isOwn, others): (Bool, [ArraySlice<String>]) = (false, [])
        for (targets, isInElements) in steps {
            let changed = try targets.filter { target in
                try JournalDigest(at: target[...], in: change.before.view)
                    != JournalDigest(at: target[...], in: change.after.view)
            }
            let isWritten = try changed.allSatisfy { target in
                // The journal has the path itself, or the object that holds it, if the job created that object.
                let known = target.indices.reversed().map { Array(target[...$0]) }.first { digests[$0] != nil }
                return try known.map { try JournalDigest(at: $0[...], in: change.before.view) == digests[$0] } ?? false
            }
            // The digest of a whole list does not show who wrote in an element, so an element is never refreshed.
            if isInElements || !isWritten {
                others += changed.map { $0[...] }
            } else if !changed.isEmpty {
                isOwn = true
            }
        }
        guard isOwn, !others.isEmpty else { return isOwn ? document : nil }
        var own = document
        try own.change?.keep(others)
        return own
    }
}

/// Finds the documents to refresh: their target fields still hold the values that the job wrote, but the job would now
/// write other values.
struct RefreshSearch {
    struct Found {
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
            var documents = try DueCursor(
                .ids(slice), of: phase, .touched, in: context, collectionUUID: collectionUUID)
            while let document = try unblaming({ try documents.next() }) {
                if try written.own(document) != nil { own.append(document.id) }
            }
        }
        return own
    }
}

struct RefreshProgress: Sendable {
    /// The values that the job wrote to the documents of the current refresh, according to the job's journal; `nil`
    /// while no refresh runs.
    var written: WrittenValues?
    /// How many documents the refreshes changed.
    var documents = 0

    /// Returns the documents in which a target still holds the value that the job wrote, with the changes of only these
    /// targets; while no refresh runs, returns all documents as they are.
    func own(among documents: [DueDocument]) throws -> [DueDocument] {
        guard let written else { return documents }
        return try documents.compactMap(written.own)
    }
}
