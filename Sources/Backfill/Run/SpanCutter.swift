import BSON
import Mongo
import Steps

/// Cuts a collection into ranges by a scan of its `_id` index, without reading a document.
struct SpanCutter {
    let collection: MongoCollection

    /// Returns the collection's greatest `_id`; `nil` when it is empty.
    func greatestID() throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            options: ["projection": ["_id": 1], "sort": ["_id": -1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// Returns the range of about `documents` documents that follow `after`, not beyond `upper`.
    ///
    /// `min` and `max` are index bounds, over all types; `min` includes its bound and `max` does not.
    func span(after: BSONValue?, upper: BSONValue, documents: Int) throws(MongoError) -> IDSpan {
        // No `_id` is before MinKey, and the server refuses bounds that hold nothing.
        guard upper != .minKey else { return IDSpan(after: after, through: upper) }
        var options = BSONBuilder()
        options.append("projection", ["_id": 1])
        options.append("sort", ["_id": 1])
        options.append("hint", ["_id": 1])
        if let after { options.append("min", ["_id": after]) }
        options.append("max", ["_id": upper])
        options.append("skip", .integer(after == nil ? documents - 1 : documents))
        options.append("limit", 1)
        // The driver's cursors refuse a bound that holds a field without a name; its commands do not.
        return IDSpan(after: after, through: try collection.findBatch(options.finish()).first?["_id"] ?? upper)
    }
}
