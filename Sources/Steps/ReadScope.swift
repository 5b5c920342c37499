package import BSON
package import Jobs
package import Mongo
package import Scanning

/// The documents of a collection that a read looks at.
package enum ReadScope: Sendable {
    /// All, in the order of the records: half the price of a scan of the `_id`s.
    case collection
    /// Those of a part of a job, by the index on `_id`.
    case part(IDRange)
    /// A range of `_id`s, in their order.
    case span(IDSpan)
    /// These alone; so many as fit into a command.
    case ids([BSONValue])

    /// The most documents of a reply.
    package static let batch = 2_000

    /// The stages that lead to them.
    /// - Parameters: as ``filter(where:quick:)`` takes them.
    package func stages(where condition: Expression? = nil, quick: BSONDocument? = nil) -> [BSONDocument] {
        let filter = filter(where: condition, quick: quick)
        let match: [BSONDocument] = filter.isEmpty ? [] : [["$match": .object(filter)]]
        if case .span = self { return match + [["$sort": ["_id": 1]]] }
        return match
    }

    /// What holds of them.
    /// - Parameters:
    ///   - condition: what they have to be like.
    ///   - quick: what holds of every document that is looked for, in the match language.
    package func filter(where condition: Expression? = nil, quick: BSONDocument? = nil) -> BSONDocument {
        var filter = isWhole ? (try? quick?.elements())?.map { ($0.name, $0.value) } ?? [] : []
        var conditions = condition.map { [$0] } ?? []
        switch self {
        case .collection: break
        case .part(let range): conditions.insert(range.membership, at: 0)
        case .span(let span): conditions.insert(span.membership, at: 0)
        case .ids(let ids): filter = [("_id", ["$in": .array(of: ids)])]
        }
        if !conditions.isEmpty { filter.append(("$expr", Expression.all(conditions).bson)) }
        return BSONDocument(filter)
    }

    /// Whether it is for whoever works on all documents of a job, and not on some of them.
    package var isWhole: Bool {
        switch self {
        case .collection, .part: true
        case .span, .ids: false
        }
    }

    /// How many documents they are, by what costs least.
    package func count(in collection: MongoCollection) throws(MongoError) -> Int {
        if case .collection = self { return try collection.estimatedCount() }
        return try collection.countDocuments(filter())
    }

    /// The options of a read with majority that tells the server's log what it is for.
    package func options(_ comment: String, _ more: KeyValuePairs<String, BSONValue> = [:]) -> BSONDocument {
        var builder = BSONBuilder()
        if case .collection = self {} else { builder.append("hint", ["_id": 1]) }
        builder.append("comment", .string("shipshape \(comment)"))
        builder.append("readConcern", ["level": "majority"])
        // The next documents are looked for while these are worked on.
        builder.append("batchSize", .integer(Self.batch))
        for (name, value) in more { builder.append(name, value) }
        return builder.finish()
    }
}

/// A half-open range of `_id`s, over all BSON types in their order: behind `after`, up to and with `through`.
package struct IDSpan: Hashable, Sendable {
    /// The last `_id` before the range; `nil` for a range from the first one on.
    package let after: BSONValue?
    /// The range's last `_id`.
    package let through: BSONValue

    package init(after: BSONValue?, through: BSONValue) { (self.after, self.through) = (after, through) }

    /// Whether a document's `_id` is in the range.
    ///
    /// Written with `$expr`: match-language comparisons see only values of the bound's own type. The server takes exact
    /// index bounds from it.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let end = Expression.call("$lte", id, .constant(through))
        guard let after else { return end }
        return .all([.call("$gt", id, .constant(after)), end])
    }
}
