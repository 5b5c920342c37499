package import BSON
import Jobs
package import Mongo

/// Reads documents of another collection by the values of one field, many at a time.
package struct Lookup {
    private let namespace: Namespace
    /// The field whose values are looked up, by default `_id`.
    private let field: String

    package init(namespace: Namespace, field: String = "_id") { (self.namespace, self.field) = (namespace, field) }

    /// Returns the documents in which the field has one of these values, grouped by the value.
    /// - Parameter fields: the fields to read besides the looked-up one; `nil` reads whole documents.
    package func documents(
        _ values: some Sequence<BSONValue>, fields: [String]? = nil, in context: ClientContext
    ) throws(MongoError) -> [IDKey: [BSONDocument]] {
        var seen: Set<IDKey> = []
        let distinct = values.filter { seen.insert(IDKey($0)).inserted }
        var options = BSONBuilder()
        options.append("readConcern", ["level": "majority"])
        options.append("comment", "shipshape lookup")
        if let fields { options.append("projection", .object(BSONDocument((fields + [field]).map { ($0, 1) }))) }
        let projected = options.finish()
        var found: [IDKey: [BSONDocument]] = [:]
        for slice in distinct.commandSlices(count: 1_000) {
            var cursor = context.collection.sibling(namespace).find(
                [field: ["$in": .array(of: slice)]], options: projected)
            while let document = try cursor.nextDocument() {
                guard let value = document[field] else { continue }
                found[IDKey(value), default: []].append(document)
            }
        }
        return found
    }

    package func exists(in context: ClientContext) throws(MongoError) -> Bool {
        try context.collection.sibling(namespace).exists()
    }

    /// Whether the server can look up values of the field without reading the whole collection.
    func isIndexed(in context: ClientContext) throws(MongoError) -> Bool {
        if field == "_id" { return true }
        let indexes = try context.collection.sibling(namespace).aggregate([["$indexStats": [:]]]).documents()
        return indexes.contains { index in
            let key = index["key"]?.document
            return (try? key?.elements().first?.name) == field
                && index["spec"]?.document?["partialFilterExpression"] == nil
        }
    }
}
