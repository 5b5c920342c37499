import BSON
import Mongo
import Steps

/// Divides a collection into ranges of `_id`s by a scan of its `_id` index, without reading a document.
struct SpanCutter {
    let collection: MongoCollection

    /// Returns the collection's greatest `_id`; `nil` when it is empty.
    func greatestID() throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            options: ["projection": ["_id": 1], "sort": ["_id": -1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// Returns the range of about `documents` documents whose `_id`s follow `after`; it ends at `upper` at the latest.
    ///
    /// The cursor options `min` and `max` limit the scan of the index across all BSON types. `min` includes its bound,
    /// and `max` does not.
    func span(after: BSONValue?, upper: BSONValue, documents: Int) throws(MongoError) -> IDSpan {
        // No `_id` is less than MinKey, and the server refuses bounds with nothing between them.
        guard upper != .minKey else { return IDSpan(after: after, through: upper) }
        var options = BSONBuilder()
        options.append("projection", ["_id": 1])
        options.append("sort", ["_id": 1])
        options.append("hint", ["_id": 1])
        if let after { options.append("min", ["_id": after]) }
        options.append("max", ["_id": upper])
        options.append("skip", .integer(after == nil ? documents - 1 : documents))
        options.append("limit", 1)
        // The read is sent as a command, because the driver's cursors refuse a bound with a field that has no name.
        return IDSpan(after: after, through: try collection.findBatch(options.finish()).first?["_id"] ?? upper)
    }
}
