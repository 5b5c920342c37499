package import BSON
import Jobs

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
