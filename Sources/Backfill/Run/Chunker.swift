import BSON
import Mongo

/// Cuts a collection into chunks by walking its `_id` index, without reading a document.
struct Chunker {
    let collection: MongoCollection

    /// The collection's greatest `_id`, which bounds a pass; `nil` when it is empty.
    func greatestID() throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            options: ["projection": ["_id": 1], "sort": ["_id": -1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// The greatest `_id` before `bound`, if it lies behind `after`.
    func predecessor(of bound: BSONValue, after: BSONValue?) throws(MongoError) -> BSONValue? {
        let condition = Expression.call("$lt", Expression(.string("$_id")), .constant(bound))
        let lower = after.map { Expression.call("$gt", Expression(.string("$_id")), .constant($0)) }
        var cursor = collection.find(
            Expression.all([condition] + (lower.map { [$0] } ?? [])).filter,
            options: ["projection": ["_id": 1], "sort": ["_id": -1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// How many documents a chunk has.
    func count(_ chunk: Chunk) throws(MongoError) -> Int {
        var cursor = collection.aggregate(
            [["$match": .object(chunk.filter())], ["$count": "n"]], options: ["hint": ["_id": 1]])
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// The chunk of about `documents` documents behind `after` and not beyond `upper`, in so many parts of about one size, or
    /// fewer at the end of the range.
    func chunk(after: BSONValue?, upper: BSONValue, documents: Int, parts: Int) throws(MongoError) -> Chunk {
        var found: [Chunk] = []
        for part in 0..<parts {
            let next = try chunk(
                after: found.last?.through ?? after, upper: upper,
                documents: documents * (part + 1) / parts - documents * part / parts)
            found.append(next)
            if next.through.hasSameBytes(as: upper) { break }
        }
        return Chunk(of: found)
    }

    /// The chunk of about `documents` documents behind `after` and not beyond `upper`.
    ///
    /// `min` and `max` are index bounds, over all types; `min` includes its bound and `max` does not.
    func chunk(after: BSONValue?, upper: BSONValue, documents: Int) throws(MongoError) -> Chunk {
        // Nothing lies before it, and the server refuses bounds that hold nothing.
        guard upper != .minKey else { return Chunk(after: after, through: upper) }
        var options = BSONBuilder()
        options.append("projection", ["_id": 1])
        options.append("sort", ["_id": 1])
        options.append("hint", ["_id": 1])
        if let after { options.append("min", ["_id": after]) }
        options.append("max", ["_id": upper])
        options.append("skip", .integer(after == nil ? documents - 1 : documents))
        options.append("limit", 1)
        // The driver's cursors refuse a bound that holds a field without a name; its commands do not.
        return Chunk(after: after, through: try collection.findBatch(options.finish()).first?["_id"] ?? upper)
    }
}
