package import BSON
package import Checking
package import Mongo
package import ServerSchema

/// Counts how many documents of a collection have no link to them, one link, or several links.
///
/// Only links from the same database count.
package struct BacklinkCensus: Sendable {
    private var links: Backlinks
    private let place: @Sendable (Namespace) -> Namespace

    /// Prepares to count the links to the documents of one collection.
    /// - Parameters:
    ///   - target: The collection of the linked documents.
    ///   - links: The paths of the fields that link to documents of `target`, each with the collection that has the
    ///     field.
    ///   - place: Maps a collection of the schema to the collection of the deployment that stores its documents.
    package init(
        of target: Namespace, from links: [(namespace: Namespace, path: SchemaPath)],
        place: @escaping @Sendable (Namespace) -> Namespace = { $0 }
    ) {
        let database = place(target).database
        let places = links.map { Backlinks.Place(namespace: $0.namespace, path: $0.path) }
        self.place = place
        self.links = Backlinks(
            target: target, places: places.filter { place($0.namespace).database == database },
            unread: places.filter { place($0.namespace).database != database })
    }

    /// Counts the documents of a collection by the number of links to them; a collection that does not exist counts as
    /// empty.
    /// - Parameter collection: The collection of the linked documents.
    /// - Throws: ``MongoError``.
    package func count(in collection: MongoCollection) throws(MongoError) -> Backlinks {
        var result = links
        var cursor = aggregate(counted + summed, in: collection)
        while let row = try cursor.nextDocument() {
            let count = row["count"]?.integer ?? 0
            guard let number = row["_id"]?.integer else {
                result.embedded = row["links"]?.integer ?? 0
                continue
            }
            var objects = Backlinks.Objects()
            objects.count = count
            objects.samples = Array([row["low"], row["high"]].compactMap(\.self).prefix(count))
            switch number {
            case 0: result.without = objects
            case 1: result.one = objects
            default: result.several = objects
            }
        }
        return result
    }

    /// Returns the `_id`s of documents to which several links lead.
    /// - Parameters:
    ///   - collection: The collection of the linked documents.
    ///   - maximum: The number of `_id`s that the caller needs. If there are more, the result has `maximum + 1` of
    ///     them.
    /// - Throws: ``MongoError``.
    package func several(in collection: MongoCollection, maximum: Int) throws(MongoError) -> [BSONValue] {
        let stages: [BSONDocument] = [
            ["$match": ["c": 1, "n": ["$gt": 1]]], ["$limit": .integer(maximum + 1)], ["$project": ["_id": "$_id.v"]],
        ]
        var cursor = aggregate(counted + stages, in: collection)
        var found: [BSONValue] = []
        while let row = try cursor.nextDocument() { if let id = row["_id"] { found.append(id) } }
        return found
    }

    private func aggregate(_ pipeline: [BSONDocument], in collection: MongoCollection) -> Cursor {
        collection.aggregate(
            pipeline,
            options: ["allowDiskUse": true, "comment": "shipshape backlinks", "readConcern": ["level": "majority"]])
    }

    /// The pipeline stages that return one row for each document of the collection, and one row for all links whose
    /// value is an embedded object instead of a key.
    ///
    /// In the row of a document, `_id.v` is the document's `_id`, `n` is the number of links to the document, and `c`
    /// is 1. In the row of the embedded objects, the `_id` is an empty object, and `n` is the number of these objects.
    private var counted: [BSONDocument] {
        let unions = links.places.map { link -> BSONDocument in
            let values: [BSONDocument] = [
                ["$project": ["_id": 0, "v": Self.values(of: "$$ROOT", link.path.steps[...], depth: 0)]],
                ["$unwind": "$v"],
                [
                    "$group": [
                        "_id": ["$cond": [["$eq": [["$type": "$v"], "object"]], ["$literal": [:]], ["v": "$v"]]],
                        "n": ["$sum": 1],
                    ]
                ],
            ]
            let coll = BSONValue.string(place(link.namespace).collection)
            return ["$unionWith": ["coll": coll, "pipeline": .array(of: values.map { .object($0) })]]
        }
        return [["$project": ["_id": ["v": "$_id"], "c": ["$literal": 1]]]] + unions + [
            ["$group": ["_id": "$_id", "n": ["$sum": "$n"], "c": ["$max": "$c"]]],
            ["$match": ["$expr": ["$or": [["$eq": ["$c", 1]], Self.isEmbedded]]]],
        ]
    }

    private static let isEmbedded: BSONValue = ["$eq": ["$_id", ["$literal": [:]]]]

    /// The pipeline stages after ``counted``, which return one row for each number of links, and one row for the links
    /// whose value is an embedded object.
    ///
    /// The `_id` of a row is the number of links, where 2 means 2 or more. It is null for the embedded objects.
    private var summed: [BSONDocument] {
        [
            [
                "$group": [
                    "_id": ["$cond": [Self.isEmbedded, .null, ["$min": ["$n", 2]]]], "count": ["$sum": 1],
                    "links": ["$sum": "$n"], "low": ["$min": "$_id.v"], "high": ["$max": "$_id.v"],
                ]
            ]
        ]
    }

    /// Returns an expression for the list of all values at the path `steps` inside `value`.
    private static func values(of value: BSONValue, _ steps: ArraySlice<SchemaPath.Step>, depth: Int) -> BSONValue {
        let name = "v\(depth)"
        let here: BSONValue = .string("$$\(name)")
        let found: BSONValue
        switch steps.first {
        case nil: found = .array(of: [here])
        case .field(let field):
            let rest = values(of: .field(field, of: here), steps.dropFirst(), depth: depth + 1)
            found = here.ifType("object", then: rest)
        case .elements: found = here.ifType("array", then: joined(here, steps.dropFirst(), depth))
        case .values:
            let inner: BSONValue = ["$map": ["input": ["$objectToArray": here], "in": "$$this.v"]]
            found = here.ifType("object", then: joined(inner, steps.dropFirst(), depth))
        }
        return ["$let": ["vars": [name: value], "in": found]]
    }

    private static func joined(_ list: BSONValue, _ steps: ArraySlice<SchemaPath.Step>, _ depth: Int) -> BSONValue {
        [
            "$reduce": [
                "input": list, "initialValue": .array(of: []),
                "in": ["$concatArrays": .array(of: ["$$value", values(of: "$$this", steps, depth: depth + 1)])],
            ]
        ]
    }
}
