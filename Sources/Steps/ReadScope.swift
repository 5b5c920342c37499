package import BSON
package import Jobs
package import Mongo
package import Scanning

/// The documents of a collection that a read covers.
package enum ReadScope: Sendable {
    /// All documents, in the order of the records, which costs half as much as a scan of the `_id`s.
    case collection
    /// The documents of a part of a job, by the index on `_id`.
    case part(IDRange)
    /// A range of `_id`s, in their order.
    case span(IDSpan)
    /// Only these `_id`s, as many as fit into a command.
    case ids([BSONValue])

    /// The most documents in a reply.
    package static let batch = 2_000

    /// Returns the stages that select these documents.
    /// - Parameters: the same as for ``filter(where:quick:)``.
    package func stages(where condition: Expression? = nil, quick: BSONDocument? = nil) -> [BSONDocument] {
        let filter = filter(where: condition, quick: quick)
        let match: [BSONDocument] = filter.isEmpty ? [] : [["$match": .object(filter)]]
        if case .span = self { return match + [["$sort": ["_id": 1]]] }
        return match
    }

    /// Returns a filter for these documents.
    /// - Parameters:
    ///   - condition: a condition that they have to meet.
    ///   - quick: a match-language condition that every wanted document meets.
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

    /// Whether it covers all documents of a job, and not only some of them.
    package var isWhole: Bool {
        switch self {
        case .collection, .part: true
        case .span, .ids: false
        }
    }

    /// Whether it lists the `_id`s of its documents.
    var isList: Bool { if case .ids = self { true } else { false } }

    /// Returns the number of documents by the cheapest count: of a whole collection, the metadata's.
    package func count(in collection: MongoCollection) throws(MongoError) -> Int {
        if case .collection = self { return try collection.estimatedCount() }
        return try collection.countDocuments(filter())
    }

    /// Returns the options of a read with majority, with a comment that names its purpose in the server's log.
    package func options(_ comment: String, _ more: KeyValuePairs<String, BSONValue> = [:]) -> BSONDocument {
        var builder = BSONBuilder()
        if case .collection = self {} else { builder.append("hint", ["_id": 1]) }
        builder.append("comment", .string("shipshape \(comment)"))
        builder.append("readConcern", ["level": "majority"])
        // The server looks for the next documents while these are processed.
        builder.append("batchSize", .integer(Self.batch))
        for (name, value) in more { builder.append(name, value) }
        return builder.finish()
    }
}

/// A half-open range of `_id`s, over all BSON types in their order: after `after`, up to and including `through`.
package struct IDSpan: Hashable, Sendable {
    /// The last `_id` before the range; `nil` for a range from the first `_id` on.
    package let after: BSONValue?
    /// The last `_id` of the range.
    package let through: BSONValue

    /// Creates a range from its bounds.
    package init(after: BSONValue?, through: BSONValue) { (self.after, self.through) = (after, through) }

    /// The condition that a document's `_id` is in the range.
    ///
    /// It uses `$expr`, because match-language comparisons see only values of the bound's own type. The server derives
    /// exact index bounds from it.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let end = Expression.call("$lte", id, .constant(through))
        guard let after else { return end }
        return .all([.call("$gt", id, .constant(after)), end])
    }
}
