package import BSON
import Mongo

/// The collection `parts`: at which `_id`s jobs were cut into parts.
///
/// The first runner says it, and all others take it over: wherever the documents go later, the parts hold each of them once.
package struct PartStore {
    let client: StoreClient
    /// The whole job's name.
    let job: String

    /// The `_id`s between so many parts.
    /// - Parameter cut: gives them where no runner has said them yet.
    /// - Throws: ``BackfillError`` for a damaged record; ``MongoError``; what `cut` throws.
    package func bounds(of count: Int, _ cut: () throws -> [BSONValue]) throws -> [BSONValue] {
        let id: BSONValue = ["job": .string(job), "count": .integer(count)]
        if let known = try known(id) { return known }
        try client.createIfAbsent("parts", id: id, ["bounds": .array(of: try cut())])
        // Another runner may have been the first.
        guard let known = try known(id) else {
            throw BackfillError(.checkpointUnreadable, "the parts of job \"\(job)\" are gone from the state database")
        }
        return known
    }

    private func known(_ id: BSONValue) throws -> [BSONValue]? {
        try client.firstChecked("parts", ["_id": id]).map { $0["bounds"]?.document?.values ?? [] }
    }
}
