package import BSON
package import Mongo

/// A part of a collection by `_id`, over all BSON types in their order: from `lower` on, up to and without `upper`.
package struct IDRange: Hashable, Sendable {
    /// The first `_id`; `nil` for the collection's start.
    package let lower: BSONValue?
    /// The `_id` that ends the range; `nil` for the collection's end.
    package let upper: BSONValue?

    /// Joins two bounds.
    package init(lower: BSONValue?, upper: BSONValue?) { (self.lower, self.upper) = (lower, upper) }

    /// The whole collection.
    package static let everything = IDRange(lower: nil, upper: nil)

    /// Splits a collection into about `count` ranges that hold every `_id`.
    ///
    /// The bounds come from a random sample on the server, so that no type's share and no order of insertion makes the
    /// ranges lopsided; what they leave uneven is evened out by having more ranges than threads.
    /// - Throws: ``MongoError``.
    package static func splitting(_ collection: MongoCollection, into count: Int) throws(MongoError) -> [IDRange] {
        guard count > 1 else { return [.everything] }
        let ids = try sample(collection, size: count * samplesPerRange)
        var bounds: [BSONValue] = []
        for part in 1..<count {
            let index = ids.count * part / count
            // A bound of MinKey or MaxKey would bound nothing, and equal bounds would make an empty range.
            // And the driver's cursors take no bound in which a field has no name.
            guard index < ids.count, ids[index] != .minKey, ids[index] != .maxKey, !ids[index].hasNamelessField
            else { continue }
            if let last = bounds.last, last.compared(to: ids[index]) == .equal { continue }
            bounds.append(ids[index])
        }
        return zip([nil] + bounds.map(Optional.some), bounds.map(Optional.some) + [nil]).map(IDRange.init)
    }

    /// How many documents are drawn for each range: so many make the ranges even enough.
    static let samplesPerRange = 20

    /// Draws `_id`s at random, and gives them in their order.
    static func sample(_ collection: MongoCollection, size: Int) throws(MongoError) -> [BSONValue] {
        // In one batch: the driver tries a command again, but not a cursor's next batch.
        let sample = collection.aggregate(
            [["$sample": ["size": .integer(size)]], ["$project": ["_id": 1]], ["$sort": ["_id": 1]]],
            options: ["batchSize": .integer(size + 1), "comment": "shipshape check"])
        return try sample.documents().compactMap { $0["_id"] }
    }
}
