package import BSON
package import Checking
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
    /// - Parameters:
    ///   - whole: what is split; without bounds the collection.
    ///   - share: which fraction of the collection that is, as the number of such ranges.
    package static func splitting(
        _ collection: MongoCollection, into count: Int, within whole: IDRange = .everything, share: Int = 1
    ) throws(MongoError) -> [IDRange] {
        guard !whole.isEmpty else { return [] }
        guard count > 1 else { return [whole] }
        let ids = try sample(collection, size: min(count * samplesPerRange * share, mostSamples), in: whole)
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
        if let lower = whole.lower, bounds.first?.compared(to: lower) == .equal { bounds.removeFirst() }
        return zip([whole.lower] + bounds.map(Optional.some), bounds.map(Optional.some) + [whole.upper]).map(
            IDRange.init)
    }

    /// The range of one of several parts that a collection is cut into.
    /// - Parameter bounds: the `_id`s between the parts: one fewer than there are, or fewer where there were too few
    ///   documents for so many.
    package static func part(_ part: CheckPart, between bounds: [BSONValue]) -> IDRange {
        let ends = [Optional<BSONValue>.none] + bounds.map(Optional.some) + [Optional<BSONValue>.none]
        guard part.number < ends.count else { return IDRange(lower: .maxKey, upper: .minKey) }
        return IDRange(lower: ends[part.number - 1], upper: ends[part.number])
    }

    /// Whether it is a part for which there were too few documents.
    var isEmpty: Bool { lower == .maxKey && upper == .minKey }

    /// Finds the documents of the range, whatever the types; empty where it has no bounds.
    package var filter: BSONDocument {
        let bounds = [lower.map { ("$gte", $0) }, upper.map { ("$lt", $0) }].compactMap(\.self)
        guard !bounds.isEmpty else { return [:] }
        let conditions = bounds.map { name, bound -> BSONValue in
            let constant: BSONValue = ["$literal": bound]
            return .object(BSONDocument([(name, .array(of: [.string("$_id"), constant]))]))
        }
        return ["$expr": ["$and": .array(of: conditions)]]
    }

    /// The most documents that are drawn.
    private static let mostSamples = 5_000

    /// How many documents are drawn for each range: so many make the ranges even enough.
    static let samplesPerRange = 20

    /// Draws `_id`s at random, and gives them in their order.
    static func sample(
        _ collection: MongoCollection, size: Int, in range: IDRange = .everything
    ) throws(MongoError) -> [BSONValue] {
        // The server compares by the collection's collation. A match before the sample would read the whole range.
        let match: [BSONDocument] = range.filter.isEmpty ? [] : [["$match": .object(range.filter)]]
        // In one batch: the driver tries a command again, but not a cursor's next batch.
        let sample = collection.aggregate(
            [["$sample": ["size": .integer(size)]]] + match + [["$project": ["_id": 1]], ["$sort": ["_id": 1]]],
            options: ["batchSize": .integer(size + 1), "comment": "shipshape check"])
        return try sample.documents().compactMap { $0["_id"] }
    }
}
