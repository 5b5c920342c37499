package import BSON
package import Jobs
package import Mongo
package import Scanning

/// The documents of a collection that a read covers.
package enum ReadScope: Sendable {
    /// All documents, in the order in which the server stores them.
    ///
    /// Reading the documents in this order costs half as much as reading them by the index on `_id`.
    case collection
    /// The documents of a part of a job, read by the index on `_id`.
    case part(IDRange)
    /// The documents whose `_id`s are in a range, sorted by `_id`.
    case span(IDSpan)
    /// The documents with these `_id`s, which have to fit into one command.
    case ids([BSONValue])

    /// The most documents in one reply of the server, if the scope is ``span(_:)`` or ``ids(_:)``.
    package static let batch = 2_000
    /// The most documents in one reply of the server, if the scope is ``collection`` or ``part(_:)``.
    ///
    /// Fewer replies cost the server less. A reply never has more than 16 MB.
    package static let wholeBatch = 10_000

    /// Returns the aggregation stages that select the documents of the scope, and sort those of a span by `_id`.
    /// - Parameters: the same as for ``filter(where:quick:)``.
    package func stages(where condition: Expression? = nil, quick: BSONDocument? = nil) -> [BSONDocument] {
        let filter = filter(where: condition, quick: quick)
        let match: [BSONDocument] = filter.isEmpty ? [] : [["$match": .object(filter)]]
        if case .span = self { return match + [["$sort": ["_id": 1]]] }
        return match
    }

    /// Returns a filter for the documents of the scope.
    /// - Parameters:
    ///   - condition: a further condition that the documents have to meet.
    ///   - quick: a filter without `$expr` that every wanted document matches, so that the server can use an index;
    ///     ignored for ``span(_:)`` and ``ids(_:)``.
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

    /// Whether the scope covers all documents of a job, or of a part of a job; `false` for a span or a list of `_id`s.
    package var isWhole: Bool {
        switch self {
        case .collection, .part: true
        case .span, .ids: false
        }
    }

    /// Returns the number of documents in the scope.
    ///
    /// For a whole collection, the number comes from the collection's metadata and may be inexact.
    package func count(in collection: MongoCollection) throws(MongoError) -> Int {
        if case .collection = self { return try collection.estimatedCount() }
        return try collection.countDocuments(filter())
    }

    /// Returns the options of a read with the read concern "majority".
    ///
    /// - Parameters:
    ///   - comment: states the purpose of the read, and appears in the server's log.
    ///   - time: the cluster time whose writes the read has to show; `nil` for any majority-committed state.
    ///   - batch: the most documents in one reply; `nil` for the scope's default.
    package func options(
        _ comment: String, since time: ClusterTime? = nil, batch: Int? = nil,
        _ more: KeyValuePairs<String, BSONValue> = [:]
    ) -> BSONDocument {
        var builder = BSONBuilder()
        if case .collection = self {} else { builder.append("hint", ["_id": 1]) }
        builder.append("comment", .string("shipshape \(comment)"))
        let start = time.map { [("afterClusterTime", BSONValue.timestamp($0.rawValue))] } ?? []
        builder.append("readConcern", .object(BSONDocument([("level", "majority")] + start)))
        // With a batch size, the server finds further documents while the client processes the current ones.
        builder.append("batchSize", .integer(batch ?? (isWhole ? Self.wholeBatch : Self.batch)))
        for (name, value) in more { builder.append(name, value) }
        return builder.finish()
    }
}

/// A range of `_id`s in the order of all BSON types: each `_id` after `after`, up to and including `through`.
package struct IDSpan: Hashable, Sendable {
    /// The last `_id` before the range; `nil` if the range begins with the first `_id`.
    package let after: BSONValue?
    package let through: BSONValue

    package init(after: BSONValue?, through: BSONValue) { (self.after, self.through) = (after, through) }

    /// The condition that a document's `_id` is in the range.
    ///
    /// The condition is used in `$expr`, because `$gt` and `$lte` without `$expr` match only values of the bound's own
    /// type. The server derives exact index bounds from the condition.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let end = Expression.call("$lte", id, .constant(through))
        guard let after else { return end }
        return .all([.call("$gt", id, .constant(after)), end])
    }
}
