import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import ServerSchema
import Steps

/// The check whether a validator would refuse documents after an undo has restored their fields.
///
/// The server makes the check, because only the server understands every operator of a validator.
extension RefusingValidator {
    /// The server's error code for a document that does not fit its validator.
    private static var misfit: Int { MongoError.Code.documentValidationFailure.rawValue }

    /// Returns the `_id`s of the documents that the validator would refuse once they are restored, each with the
    /// server's error code.
    func refused(
        _ due: [Restoring], in collection: MongoCollection, _ retry: RetryPolicy
    ) throws -> [BSONValue: Int] {
        guard !due.isEmpty else { return [:] }
        let before = try refused(due.map { try $0.restored() }, in: collection, retry)
        // At level "moderate", the server accepts a change of a document that did not fit the validator before the
        // change.
        guard isModerate, !before.isEmpty else { return before }
        let misfits = try refused(due.filter { before[$0.id] != nil }.map(\.current), in: collection, retry)
        return before.filter { misfits[$0.key] == nil }
    }

    private func refused(
        _ documents: [BSONDocument], in collection: MongoCollection, _ retry: RetryPolicy
    ) throws -> [BSONValue: Int] {
        // A document that is too large for a command is not checked; the update that restores it will report its size.
        let documents = documents.filter { $0.bytes.count < RestoringStatements.largest }
        return try documents.map(BSONValue.object).commandSlices().reduce(into: [:]) { all, slice in
            all.merge(try refused(slice, in: collection, retry)) { $1 }
        }
    }

    private func refused(
        _ documents: [BSONValue], in collection: MongoCollection, _ retry: RetryPolicy
    ) throws -> [BSONValue: Int] {
        let pipeline: [BSONDocument] =
            MongoCollection.stages(supplying: documents.compactMap(\.document))
            + [["$match": ["$nor": [.object(condition)]]], ["$project": ["_id": 1]]]
        // The check is sent as a command, because the driver's cursors refuse a field without a name.
        let command: BSONDocument = [
            "aggregate": .string(collection.namespace.collection),
            "pipeline": .array(of: pipeline.map { .object($0) }),
            "cursor": ["batchSize": .integer(documents.count + 1)], "comment": "shipshape undo",
        ]
        do {
            let reply = try retry.run { try collection.command(command) }
            let found = reply["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
            return Dictionary(found.compactMap { $0["_id"] }.map { ($0, Self.misfit) }) { $1 }
        } catch let error as MongoError where error.isOfOneDocument {
            // The validator's expression fails for a document, as it would in a write. The list is halved until that
            // document is found.
            guard documents.count > 1 else {
                return documents.first?.document?["_id"].map { [$0: error.code.rawValue] } ?? [:]
            }
            let half = documents.count / 2
            return try refused(Array(documents[..<half]), in: collection, retry).merging(
                refused(Array(documents[half...]), in: collection, retry)
            ) { $1 }
        }
    }

    /// Returns a note on the documents that the validator refuses; empty if there are none.
    ///
    /// Call this function only after `tally` counts all documents of the undo.
    func notes(_ tally: UndoTally, of namespace: Namespace) -> [String] {
        let count = tally.report.filter { $0.left.reason == .refused && $0.left.code == Self.misfit }.reduce(0) {
            $0 + $1.count
        }
        guard count > 0 else { return [] }
        return [
            "the validator of \(namespace) refuses \(count == 1 ? "a document" : "\(count.grouped) documents") as "
                + "\(count == 1 ? "it was" : "they were") before the job: to undo all changes, first restore the "
                + "earlier validator (shipshape enforce --abort, or collMod), or set its action to warn"
        ]
    }
}
