import BSON

/// The condition for a document that the server would change beyond what the steps change.
///
/// When the server writes such a document, it drops one of two fields with the same name, or renumbers an array.
package struct AlteredDocument: Hashable, Sendable {
    /// The condition, which may use the variable ``bytes``; the variable is bound only inside ``asked(in:)``.
    let condition: Expression
    /// Whether the condition compares a hash of the whole document.
    ///
    /// The hash must be computed before any field is read, because afterwards the server takes each field that it has
    /// read from a copy, in which it may already be altered.
    let hashesFirst: Bool

    /// The variable that holds the hash of the whole document's bytes.
    static let bytes = Expression.variable("ownBytes")

    /// Creates a condition that reads its result from a field in which an earlier stage stored it.
    package init(knownAt field: String) { self.init(.string("$\(field)")) }

    /// Creates a constant condition.
    package init(_ value: Bool) { self.init(["$literal": .bool(value)]) }

    private init(_ condition: BSONValue) { (self.condition, hashesFirst) = (Expression(condition), false) }

    init(_ condition: Expression, hashesFirst: Bool) {
        (self.condition, self.hashesFirst) = (condition, hashesFirst)
    }

    /// Returns an expression that uses the condition, with the variable ``bytes`` bound if the condition needs it.
    /// - Parameter body: Makes the expression from the condition.
    func asked(in body: (Expression) -> Expression) -> Expression {
        let expression = body(condition)
        let hash = Expression.hash(of: .variable("ROOT"))
        return hashesFirst ? .let(["ownBytes": hash], in: expression) : expression
    }
}

extension Expression {
    /// Returns a hash of the bytes of an object.
    static func hash(of object: Expression) -> Expression { Expression(["$toHashedIndexKey": object.bson]) }
}
