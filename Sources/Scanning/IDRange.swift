package import BSON
package import Checking
package import Mongo

/// A range of a collection's `_id`s in MongoDB's order, over all BSON types.
package struct IDRange: Hashable, Sendable {
    /// The first `_id` of the range; `nil` for the start of the collection.
    package let lower: BSONValue?
    /// The first `_id` after the range; `nil` for the end of the collection.
    package let upper: BSONValue?

    /// Creates the range from `lower`, inclusive, to `upper`, exclusive; `nil` means no bound.
    package init(lower: BSONValue?, upper: BSONValue?) { (self.lower, self.upper) = (lower, upper) }

    /// The range that contains the whole collection.
    package static let everything = IDRange(lower: nil, upper: nil)

    /// Splits a range of a collection into at most `count` ranges, which together contain every `_id` of the range.
    ///
    /// The bounds come from a random sample on the server. The ranges therefore have about the same number of
    /// documents, whatever the types of the `_id`s and the order of insertion. A caller asks for more ranges than it
    /// has threads, so that the threads end at about the same time.
    /// - Throws: ``MongoError``.
    /// - Parameters:
    ///   - whole: The range to split; by default the whole collection.
    ///   - share: The size of the collection divided by the size of `whole`. The sample is larger by this factor, up to
    ///     a limit, because it is drawn from the whole collection.
    package static func splitting(
        _ collection: MongoCollection, into count: Int, within whole: IDRange = .everything, share: Int = 1
    ) throws(MongoError) -> [IDRange] {
        guard !whole.isEmpty else { return [] }
        guard count > 1 else { return [whole] }
        let ids = try sample(collection, size: min(count * samplesPerRange * share, maximumSamples), in: whole)
        var bounds: [BSONValue] = []
        for part in 1..<count {
            let index = ids.count * part / count
            // A bound of MinKey or MaxKey has no effect, and two equal bounds would make an empty range.
            // If a bound contains a field with an empty name, the driver refuses to open a cursor.
            guard index < ids.count, ids[index] != .minKey, ids[index] != .maxKey, !ids[index].hasNamelessField
            else { continue }
            if let last = bounds.last, last.compared(to: ids[index]) == .equal { continue }
            bounds.append(ids[index])
        }
        if let lower = whole.lower, bounds.first?.compared(to: lower) == .equal { bounds.removeFirst() }
        return zip([whole.lower] + bounds.map(Optional.some), bounds.map(Optional.some) + [whole.upper]).map(
            IDRange.init)
    }

    /// Returns the range of one of the parts into which a collection is divided.
    /// - Parameter bounds: The `_id`s at which the parts are cut: one fewer than there are parts, or still fewer if
    ///   there are few documents.
    /// - Returns: A range without any `_id` if the collection had too few documents to fill all parts.
    package static func part(_ part: CheckPart, between bounds: [BSONValue]) -> IDRange {
        let ends = [Optional<BSONValue>.none] + bounds.map(Optional.some) + [Optional<BSONValue>.none]
        guard part.number < ends.count else { return IDRange(lower: .maxKey, upper: .minKey) }
        return IDRange(lower: ends[part.number - 1], upper: ends[part.number])
    }

    /// Whether the range contains no `_id`.
    ///
    /// A part of a collection has an empty range if the collection had too few documents to fill all parts.
    var isEmpty: Bool { lower == .maxKey && upper == .minKey }

    /// A filter that matches the documents of the range, whatever the types of their `_id`s; empty for all documents.
    package var filter: BSONDocument {
        let bounds = [lower.map { ("$gte", $0) }, upper.map { ("$lt", $0) }].compactMap(\.self)
        guard !bounds.isEmpty else { return [:] }
        let conditions = bounds.map { name, bound -> BSONValue in
            let constant: BSONValue = ["$literal": bound]
            return .object(BSONDocument([(name, .array(of: [.string("$_id"), constant]))]))
        }
        return ["$expr": ["$and": .array(of: conditions)]]
    }

    /// The largest number of `_id`s in a sample.
    private static let maximumSamples = 5_000

    /// The number of `_id`s that are sampled for each range; with fewer, the sizes of the ranges would differ too much.
    static let samplesPerRange = 20

    /// Draws `_id`s from the whole collection at random, and returns those in the range in ascending order.
    static func sample(
        _ collection: MongoCollection, size: Int, in range: IDRange = .everything
    ) throws(MongoError) -> [BSONValue] {
        // `$sample` comes before `$match`, because the server would otherwise read the whole range. The server sorts
        // the `_id`s, because their order depends on the collection's collation.
        let match: [BSONDocument] = range.filter.isEmpty ? [] : [["$match": .object(range.filter)]]
        // The sample is one batch, because the driver retries a command but not a `getMore`.
        let sample = collection.aggregate(
            [["$sample": ["size": .integer(size)]]] + match + [["$project": ["_id": 1]], ["$sort": ["_id": 1]]],
            options: ["batchSize": .integer(size + 1), "comment": "shipshape check"])
        return try sample.documents().compactMap { $0["_id"] }
    }
}
