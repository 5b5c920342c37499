import BSON
import Evaluating
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The read of a chunk's documents in its transaction, and the evaluation of the steps on them.
extension ChunkWork {
    /// The documents that a transaction read.
    struct Found: Sendable {
        /// The documents that need the phase, in the order in which they are written.
        var documents: [DueDocument] = []
        /// The `_id`s of the documents that the server has to evaluate.
        var unknown: [BSONValue] = []
        /// The documents of the chunk that were not read, because together they are too large.
        var rest: [BSONValue] = []

        /// The `_id`s of all documents that may need the phase.
        var ids: [BSONValue] { documents.map(\.id) + unknown }
    }

    /// The error that the place of a dense read is unknown, for example after an election.
    struct PlaceLost: Error {}

    func find(in transaction: borrowing FencedTransaction, _ found: inout Found) throws {
        let collection = try transaction.collection(job.job.namespace)
        let detail = phase.detail(keepsJournal: keepsJournal)
        if let evaluator, phase.earlierOfClient.isEmpty {
            var finder = DueFinder(phase: phase, evaluator: evaluator, detail: detail, journal.evidence)
            if chunk.isNext {
                try readNext(&finder, in: collection, &found)
            } else {
                try read(chunk.ids, &finder, in: collection, &found)
            }
            guard !found.unknown.isEmpty else { return }
        } else {
            guard !chunk.isNext else { throw PlaceLost() }
            found.unknown = chunk.ids
        }
        let unknown = found.unknown
        for (index, ids) in unknown.commandSlices(count: Self.maximumAsked).enumerated() {
            if index > 0 {
                // The server evaluates a limited number of documents for each transaction.
                found.rest += ids
                continue
            }
            let context = job.context(collection)
            var cursor = try DueCursor(
                .ids(ids), of: try cleared(phase, for: ids, in: context), detail, in: context,
                collectionUUID: collectionUUID, evidence: journal.evidence)
            let documents = try cursor.read(ReadAmount(documents: .max, bytes: amount.bytes))
            if documents.reduce(0, { $0 + $1.size }) >= amount.bytes {
                let read = Set(documents.map(\.id))
                found.rest += ids.filter { !read.contains($0) }
            }
            found.documents += documents
        }
        found.unknown = []
    }

    /// The most documents that the server evaluates in one transaction.
    ///
    /// With an earlier client-side step, the server also compares each document with the list of all these documents.
    private static let maximumAsked = 2_000

    private func read(
        _ ids: [BSONValue], _ finder: inout DueFinder, in collection: MongoCollection, _ found: inout Found
    ) throws {
        var options: BSONDocument = ["hint": ["_id": 1], "comment": "shipshape find"]
        if let uuid = collectionUUID { options = options.appending("collectionUUID", uuid) }
        let reader = IDReader(collection: collection, options: options)
        var bytes = 0
        var read: Set<BSONValue>?
        try reader.read(ids) { view in
            guard bytes < amount.bytes || found.documents.isEmpty else {
                if read == nil { read = Set(found.ids) }
                if let id = try view.find("_id") { found.rest.append(try view.value(id)) }
                return
            }
            bytes += view.byteCount
            try evaluate(view, &finder, &found)
        }
        let order = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
        found.documents.sort { order[$0.id] ?? 0 < order[$1.id] ?? 0 }
    }

    /// The most batches of documents that need nothing in one transaction.
    private static let maximumBatches = 20

    private func readNext(
        _ finder: inout DueFinder, in collection: MongoCollection, _ found: inout Found
    ) throws {
        guard let records else { throw PlaceLost() }
        for _ in 0..<Self.maximumBatches where found.ids.isEmpty {
            let next = try records.next { place in
                try collection.recordBatch(
                    after: place, count: amount.documents, comment: "shipshape find", collectionUUID: collectionUUID)
            }
            guard let batch = next else { break }
            try batch.forEach { view in
                try evaluate(view, &finder, &found)
                return true
            }
        }
        let skipped = skipped
        found.documents.removeAll { skipped.contains($0.id) }
        found.unknown.removeAll { skipped.contains($0) }
    }

    private func evaluate(
        _ view: borrowing BSONView, _ finder: inout DueFinder, _ found: inout Found
    ) throws {
        do throws(NotEvaluated) {
            if let document = try finder.due(view) { found.documents.append(document) }
        } catch {
            if let id = try view.find("_id") { found.unknown.append(try view.value(id)) }
        }
    }

    /// Returns the phase with a condition that matches only documents which need no earlier client-side step.
    ///
    /// The server cannot evaluate a client-side step. This program therefore evaluates the steps, and the condition
    /// lists the documents that need none of them. A listed document matches until another client changes a field that
    /// the earlier steps read or write.
    func cleared(_ phase: Phase, for ids: [BSONValue], in context: ClientContext) throws -> Phase {
        let steps = phase.earlierOfClient
        guard !steps.isEmpty else { return phase }
        let names = Set(steps.flatMap { $0.step.kind.touched + $0.step.reads }.map { $0.components[0] }).sorted()
        var evaluation = Evaluation(.ids(ids), through: steps, in: context, onlyNeeding: true, where: phase.mayNeed)
        var cleared: [BSONValue: Expression] = [:]
        while let outcome = try blaming({ try evaluation.next() }) {
            guard let id = outcome.before["_id"], !outcome.isChanged else { continue }
            cleared[id] = try .all(
                [Expression(.string("$_id")) == .constant(id)] + Expression.areExactly(names, asIn: outcome.before))
        }
        return phase.clearing(cleared)
    }
}
