package import BSON
import Mongo

/// The collection `parts`: at which `_id`s jobs, and collections that are checked, were cut into parts.
///
/// The first runner says it, and all others take it over: wherever the documents go later, the parts hold each of them once.
package struct PartStore {
    private let client: StoreClient
    /// The fields of the record's `_id` besides the number of parts.
    private let owner: BSONDocument
    /// The name that messages give to the thing that is cut.
    private let name: String

    /// The parts of a job.
    init(client: StoreClient, job: String) {
        (self.client, owner, name) = (client, ["job": .string(job)], "job \"\(job)\"")
    }

    /// The parts of a collection that is checked.
    /// - Parameter uuid: what tells it from another of its name; `nil` where it is not known.
    package init(client: StoreClient, checking namespace: Namespace, uuid: BSONValue?) {
        (self.client, name) = (client, "\(namespace)")
        owner = ["check": .string("\(namespace)"), "uuid": uuid ?? .null]
    }

    /// The `_id`s between so many parts.
    /// - Parameter cut: gives them where no runner has said them yet.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``; what `cut` throws.
    package func bounds(of count: Int, _ cut: () throws -> [BSONValue]) throws -> [BSONValue] {
        if let known = try record(of: count) { return Self.bounds(in: known) }
        try client.createIfAbsent("parts", id: id(count), ["bounds": .array(of: try cut())])
        return try known(count)
    }

    /// The `_id`s between so many parts of what is read again and again: cut again once it has grown by half, or shrunk
    /// to a half, so that the parts stay about even.
    /// - Parameter documents: how many documents there are now.
    /// - Throws: as ``bounds(of:_:)`` does.
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
        // Another runner may have cut it again in the meantime: then its cut holds.
        _ = try client.modify(
            "parts", ["_id": id(count), "documents": known["documents"] ?? .null],
            [["$set": ["bounds": ["$literal": bounds], "documents": .integer(documents)]]])
        return try self.known(count)
    }

    /// The most documents that may come or go without a new cut.
    private static let fewDocuments = 1_000

    private func id(_ count: Int) -> BSONValue { .object(owner.appending("count", .integer(count))) }

    private func record(of count: Int) throws -> BSONDocument? {
        try client.firstChecked("parts", ["_id": id(count)])
    }

    private static func bounds(in record: BSONDocument) -> [BSONValue] { record["bounds"]?.document?.values ?? [] }

    /// Returns the record, written by this runner or by another one that was first.
    private func known(_ count: Int) throws -> [BSONValue] {
        guard let known = try record(of: count) else {
            throw RunError(.checkpointUnreadable, "the parts of \(name) are gone from the state database")
        }
        return Self.bounds(in: known)
    }
}
