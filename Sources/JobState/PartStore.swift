package import BSON
import Mongo

/// The collection `parts`: the `_id`s at which a job, or a collection that `check` reads, is divided into parts.
///
/// The first runner records these `_id`s, and all other runners use them. Each document therefore belongs to exactly
/// one part, even if documents are inserted or deleted later. Only for `check`, the `_id`s are computed again after the
/// collection has grown or shrunk by about half.
package struct PartStore {
    private let client: StoreClient
    /// The fields of a record's `_id` that name the job or the collection; the remaining field is the number of parts.
    private let owner: BSONDocument
    /// The name of the job or collection in messages.
    private let name: String

    init(client: StoreClient, job: String) {
        (self.client, owner, name) = (client, ["job": .string(job)], "job \"\(job)\"")
    }

    /// Creates the store for the parts of a collection that is checked.
    /// - Parameter uuid: distinguishes the collection from another one of the same name; `nil` if it is unknown.
    package init(client: StoreClient, checking namespace: Namespace, uuid: BSONValue?) {
        (self.client, name) = (client, "\(namespace)")
        owner = ["check": .string("\(namespace)"), "uuid": uuid ?? .null]
    }

    /// Returns the `_id`s that separate `count` parts.
    /// - Parameter cut: computes the `_id`s if no runner has recorded them yet.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``; errors of `cut`.
    package func bounds(of count: Int, _ cut: () throws -> [BSONValue]) throws -> [BSONValue] {
        if let known = try record(of: count) { return Self.bounds(in: known) }
        try client.createIfAbsent("parts", id: id(count), ["bounds": .array(of: try cut())])
        return try known(count)
    }

    /// Returns the `_id`s that separate `count` parts of a collection that is checked repeatedly.
    ///
    /// The parts keep about equal sizes, because the `_id`s are computed again after a large change of the number of
    /// documents. The change is large if the number grew by more than half and by more than 1,000, or if it is now more
    /// than 1,000 below half of the earlier number.
    /// - Parameter documents: how many documents the collection has now.
    /// - Throws: the errors of ``bounds(of:_:)``.
    package func bounds(of count: Int, for documents: Int, _ cut: () throws -> [BSONValue]) throws -> [BSONValue] {
        guard let known = try record(of: count) else {
            try client.createIfAbsent(
                "parts", id: id(count), ["bounds": .array(of: try cut()), "documents": .integer(documents)])
            return try self.known(count)
        }
        let before = known["documents"]?.integer ?? 0
        guard documents > before + max(before / 2, Self.fewDocuments) || documents < before / 2 - Self.fewDocuments
        else {
            return Self.bounds(in: known)
        }
        let bounds = BSONValue.array(of: try cut())
        // If another runner has recorded new `_id`s since this runner read the record, nothing is written, and the
        // method returns the other runner's `_id`s.
        _ = try client.modify(
            "parts", ["_id": id(count), "documents": known["documents"] ?? .null],
            [["$set": ["bounds": ["$literal": bounds], "documents": .integer(documents)]]])
        return try self.known(count)
    }

    /// A change of the number of documents by at most this many does not cause a new division into parts.
    private static let fewDocuments = 1_000

    private func id(_ count: Int) -> BSONValue { .object(owner.appending("count", .integer(count))) }

    private func record(of count: Int) throws -> BSONDocument? {
        try client.firstChecked("parts", ["_id": id(count)])
    }

    private static func bounds(in record: BSONDocument) -> [BSONValue] { record["bounds"]?.document?.values ?? [] }

    /// Returns the recorded `_id`s that separate `count` parts.
    ///
    /// If another runner recorded its `_id`s before this runner did, the result has the other runner's `_id`s.
    private func known(_ count: Int) throws -> [BSONValue] {
        guard let known = try record(of: count) else {
            throw RunError(.checkpointUnreadable, "the parts of \(name) are gone from the state database")
        }
        return Self.bounds(in: known)
    }
}
