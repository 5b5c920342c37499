import BSON

/// The condition under which the server would write a document back altered, apart from what the steps change.
package struct AlteredDocument: Hashable, Sendable {
    /// The condition, which may use the variable ``bytes``.
    let condition: Expression
    /// Whether the condition compares the bytes of the document itself.
    ///
    /// They are hashed before any field is read, because the server then takes each field that it has read from its
    /// own copy.
    let hashesFirst: Bool

    /// The variable that holds the hash of the document's own bytes.
    static let bytes = Expression.variable("ownBytes")

    /// Creates a condition that only reads a field in which an earlier stage stored the answer.
    package init(knownAt field: String) { self.init(.string("$\(field)")) }

    /// Creates a constant condition.
    package init(_ value: Bool) { self.init(["$literal": .bool(value)]) }

    private init(_ condition: BSONValue) { (self.condition, hashesFirst) = (Expression(condition), false) }

    init(_ condition: Expression, hashesFirst: Bool) {
        (self.condition, self.hashesFirst) = (condition, hashesFirst)
    }

    /// Returns an expression that uses the condition.
    /// - Parameter body: Makes the expression of the condition.
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
