import BSON
import JobState
import Jobs
import Mongo
import Steps

/// The updates that write the documents of a chunk, and no others.
///
/// The updates carry no condition but the `_id`s, because the transaction has read the documents: the server refuses
/// the write of a document that another client changed since.
struct ChunkWriter {
    let phase: Phase
    /// Whether each document has a statement of its own, so that the server names the document that it refuses.
    var isPerDocument = false

    /// Returns the updates, and the documents of each; a statement of several documents writes what the server
    /// computes.
    /// - Throws: ``BSONError``, which only a bug can cause.
    func updates(_ documents: [DueDocument]) throws -> [UpdateStatement] {
        guard phase.isServerSide else {
            return documents.compactMap { document in document.change.map { written($0, of: document.id) } }
        }
        let pipeline = update(phase.neededPipeline)
        // A change that has only a part of what the phase makes is written by the fields that it has.
        let parts = documents.map { document in
            document.change.flatMap { $0.isPart ? written($0, of: document.id) : nil }
        }
        guard !isPerDocument else {
            return zip(documents, parts).map { document, part in part ?? statement([document.id], pipeline) }
        }
        let whole = zip(documents, parts).filter { $1 == nil }.map(\.0.id)
        return parts.compactMap(\.self) + whole.commandSlices().map { statement($0, pipeline) }
    }

    private func written(_ change: DueDocument.Change, of id: BSONValue) -> UpdateStatement {
        let values: [(String, BSONValue)] = phase.touched.map { name in
            (name, change.after[name].map { ["$literal": $0] } ?? "$$REMOVE")
        }
        return statement([id], update([["$set": .object(BSONDocument(values))]]))
    }

    /// Returns the update of one document that is written only while the given fields are as they were read.
    /// - Parameter names: the top-level fields that the phase reads or writes.
    func guarded(_ document: DueDocument, at names: [String]) throws -> UpdateStatement? {
        guard let change = document.change, var update = try updates([document]).first else { return nil }
        let isBinary = !document.id.dependsOnCollation
        let isSame = try Expression.areExactly(names, asIn: change.before, isBinary: isBinary)
        update.filter = ["_id": ["$eq": document.id], "$expr": Expression.all(isSame + [SyncLock.isFree]).bson]
        update.isMulti = false
        if isBinary { update.collation = ["locale": "simple"] }
        return update
    }

    private func statement(_ ids: [BSONValue], _ update: BSONValue) -> UpdateStatement {
        // `$eq` compares a single `_id`, because the `_id` may be an object whose fields look like operators.
        let filter: BSONValue = ids.count == 1 ? ["$eq": ids[0]] : ["$in": .array(of: ids)]
        return UpdateStatement(["_id": filter], update, isMulti: ids.count > 1, hint: ["_id": 1])
    }

    private func update(_ pipeline: [BSONDocument]) -> BSONValue { .array(of: pipeline.map { .object($0) }) }
}

extension Phase {
    /// The top-level fields that the phase reads or writes.
    var concerned: [String] {
        touched + Set(steps.flatMap { $0.step.reads.map { $0.components[0] } }).subtracting(touched).sorted()
    }
}
