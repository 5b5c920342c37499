import BSON
import Mongo

/// Reads documents of another collection by the values of one field, many at a time.
struct Lookup {
    let namespace: Namespace
    /// The field that is compared: `_id` unless the job says another.
    var field = "_id"

    /// The documents that hold one of these values, by it.
    /// - Parameter fields: the fields that are read besides; `nil` reads whole documents.
    func documents(
        _ values: some Sequence<BSONValue>, fields: [String]? = nil, in context: ClientContext
    ) throws(MongoError) -> [LinkKey: [BSONDocument]] {
        var seen: Set<LinkKey> = []
        let distinct = values.filter { seen.insert(LinkKey($0)).inserted }
        var options = BSONBuilder()
        options.append("readConcern", ["level": "majority"])
        options.append("comment", "shipshape lookup")
        if let fields { options.append("projection", .object(BSONDocument((fields + [field]).map { ($0, 1) }))) }
        let projected = options.finish()
        var found: [LinkKey: [BSONDocument]] = [:]
        for slice in distinct.commandSlices(count: 1_000) {
            var cursor = context.collection.sibling(namespace).find(
                [field: ["$in": .array(of: slice)]], options: projected)
            while let document = try cursor.nextDocument() {
                guard let value = document[field] else { continue }
                found[LinkKey(value), default: []].append(document)
            }
        }
        return found
    }

    /// Whether the collection is there.
    func exists(in context: ClientContext) throws(MongoError) -> Bool {
        try context.collection.sibling(namespace).exists()
    }

    /// Whether the field can be looked up without reading the whole collection.
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

/// A link's value: 1 as `int` is 1 as `long` and as a `double`, as it is to the server.
struct LinkKey: Hashable {
    let value: BSONValue

    init(_ value: BSONValue) { self.value = value.integer.map { .long(Int64($0)) } ?? value }
}

extension BSONValue {
    /// Whether it can be a link: the primary key of another document, which is neither an object nor a list.
    var isLink: Bool {
        switch self {
        case .object, .array, .null, .undefined: false
        default: true
        }
    }
}

extension Expression {
    /// Whether the value can be a link.
    var isLink: Expression { !hasType("missing", "null", "undefined", "object", "array") }

    /// Whether the value is a list that holds such an element.
    func isList(withElement such: (Expression) -> Expression) -> Expression {
        hasType("array")
            && Expression([
                "$anyElementTrue": [
                    Expression.call(
                        "$map", ["input": self, "as": Expression("element"), "in": such(.variable("element"))]
                    ).bson
                ]
            ])
    }
}
