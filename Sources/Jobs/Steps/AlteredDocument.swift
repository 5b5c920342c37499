import BSON

/// Whether the server would give a document back otherwise than it is, as a write asks it.
package struct AlteredDocument: Hashable, Sendable {
    /// The condition, which may use the variable ``bytes``.
    let condition: Expression
    /// Whether the condition compares the bytes of the document itself.
    ///
    /// They are hashed before any field is looked at: the server takes a field that it has looked at from its own copy
    /// then.
    let hashesFirst: Bool

    /// The hash of the document's own bytes.
    static let bytes = Expression.variable("ownBytes")

    /// A condition that looks at nothing but a field, where an earlier stage left the answer.
    package init(knownAt field: String) { self.init(.string("$\(field)")) }

    /// A condition that is constant.
    package init(_ value: Bool) { self.init(["$literal": .bool(value)]) }

    private init(_ condition: BSONValue) { (self.condition, hashesFirst) = (Expression(condition), false) }

    init(_ condition: Expression, hashesFirst: Bool) {
        (self.condition, self.hashesFirst) = (condition, hashesFirst)
    }

    /// An expression that uses the condition.
    func asked(in body: (Expression) -> Expression) -> Expression {
        let expression = body(condition)
        let hash = Expression.hash(of: .variable("ROOT"))
        return hashesFirst ? .let(["ownBytes": hash], in: expression) : expression
    }
}

extension Expression {
    /// A hash of the bytes of an object.
    static func hash(of object: Expression) -> Expression { Expression(["$toHashedIndexKey": object.bson]) }
}
