package import BSON

extension BSONValue {
    /// Whether two values are the same in their bytes, as a NaN is to itself and 1 is not to 1.0.
    func hasSameBytes(as other: BSONValue) -> Bool { BSONDocument([("", self)]) == BSONDocument([("", other)]) }
}

/// A half-open range of `_id`s, over all BSON types in their order: behind `after`, up to and with `through`.
package struct Chunk: Hashable, Sendable {
    /// The last `_id` of the chunk before; `nil` for the first chunk.
    package let after: BSONValue?
    /// The chunk's last `_id`.
    package let through: BSONValue
    /// The `_id`s between them that end its parts but the last, where the parts may be done side by side.
    private(set) var cuts: [BSONValue] = []
    /// The only `_id`s of the chunk, where it is a list and not a range.
    private(set) var listed: [BSONValue]?
    /// Whether it is the document of ``through`` alone, whatever else lies in the range.
    let isAlone: Bool

    init(after: BSONValue?, through: BSONValue) {
        (self.after, self.through, isAlone) = (after, through, false)
    }

    /// One document.
    init(after: BSONValue?, alone id: BSONValue) {
        (self.after, through, isAlone) = (after, id, true)
    }

    /// A list of `_id`s, which is not empty.
    init(listing ids: [BSONValue]) {
        self.init(after: nil, through: ids[ids.count - 1])
        listed = ids
    }

    /// A range of several parts, one behind the other.
    init(of parts: [Chunk]) {
        self.init(after: parts[0].after, through: parts[parts.count - 1].through)
        cuts = parts.dropLast().map(\.through)
    }

    /// What may be done side by side.
    var parts: [Chunk] {
        guard !cuts.isEmpty else { return [self] }
        return zip([after] + cuts.map(Optional.some), cuts + [through]).map { Chunk(after: $0, through: $1) }
    }

    /// As much of it as these documents, the first of those that were asked for; `nil` when there is none.
    func cut(to ids: [BSONValue]) -> Chunk? {
        guard let last = ids.last else { return nil }
        return listed == nil ? Chunk(after: after, through: last) : Chunk(listing: ids)
    }

    /// Whether it is one document at most, whatever the documents are like.
    var isSingle: Bool { isAlone || listed?.count == 1 }

    /// Whether a document's `_id` is in the range.
    ///
    /// Written with `$expr`: match-language comparisons see only values of the bound's own type. The server takes exact
    /// index bounds from it, in updates too.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        if let listed { return .call("$in", id, .constant(.array(of: listed))) }
        if isAlone { return id == .constant(through) }
        let end = Expression.call("$lte", id, .constant(through))
        guard let after else { return end }
        return .all([.call("$gt", id, .constant(after)), end])
    }

    /// A match filter of the chunk's documents that are like `condition`, by the index of `_id`.
    func filter(where condition: Expression? = nil) -> BSONDocument {
        guard let listed else { return (condition.map { membership && $0 } ?? membership).filter }
        let ids: BSONDocument = ["_id": ["$in": .array(of: listed)]]
        return condition.map { ids.appending("$expr", $0.bson) } ?? ids
    }
}
