package import BSON
package import Mongo

package struct IDReader {
    let collection: MongoCollection
    /// A filter that the documents must match in addition to having one of the `_id`s; empty for no filter.
    let filter: BSONDocument
    /// The options of every command, such as a session or a read concern.
    let options: BSONDocument

    package init(collection: MongoCollection, filter: BSONDocument = [:], options: BSONDocument) {
        (self.collection, self.filter, self.options) = (collection, filter, options)
    }

    /// Calls `body` with every document that has one of the `_id`s and matches the filter, in no particular order.
    /// - Throws: ``MongoError``, or an error of `body`.
    package func read(_ ids: [BSONValue], _ body: (borrowing BSONView) throws -> Void) throws {
        for slice in ids.filter({ !$0.hasNamelessField }).commandSlices(count: 1_000) {
            var cursor = collection.find(matching(["$in": .array(of: slice)]), options: options)
            while let document = try cursor.next() { try body(document) }
        }
        // The driver refuses to open a cursor with an `_id` that contains a field with an empty name. It accepts such
        // an `_id` in a command.
        for id in ids where id.hasNamelessField {
            let found = try collection.findBatch(["filter": .object(matching(["$eq": id]))], options: options)
            for document in found { try body(document.view) }
        }
    }

    /// Returns the documents that have one of the `_id`s and match the filter, each under the key of its `_id`.
    /// - Throws: ``MongoError``.
    package func documents(_ ids: [BSONValue]) throws -> [IDKey: BSONDocument] {
        var found: [IDKey: BSONDocument] = [:]
        try read(ids) { view in
            let document = BSONDocument(copying: view)
            found[IDKey(document["_id"] ?? .undefined)] = document
        }
        return found
    }

    private func matching(_ id: BSONDocument) -> BSONDocument {
        filter.isEmpty ? ["_id": .object(id)] : ["$and": [["_id": .object(id)], .object(filter)]]
    }
}

extension BSONValue {
    /// Whether the value contains a field with an empty name, at any depth.
    var hasNamelessField: Bool {
        switch self {
        case .object(let document):
            ((try? document.elements()) ?? []).contains { $0.name.isEmpty || $0.value.hasNamelessField }
        case .array(let elements): elements.values.contains(where: \.hasNamelessField)
        case .javascriptWithScope(_, let scope): BSONValue.object(scope).hasNamelessField
        default: false
        }
    }
}
