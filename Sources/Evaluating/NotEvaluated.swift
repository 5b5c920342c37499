/// The error that the client cannot evaluate an expression for a document as the server does, so that only the server
/// can evaluate it.
package struct NotEvaluated: Error, Hashable, CustomStringConvertible {
    /// The reason why the client cannot evaluate the expression.
    package enum Reason: Hashable, Sendable {
        /// The expression uses an operator, option or variable of this name that the client does not know.
        case operation(String)
        /// The result depends on the server's version, or on digits that the client does not reproduce.
        case version
        /// The expression compares texts, and the collection has a collation.
        case collation
        /// The server would end the command with an error.
        case failure
        /// The document is damaged.
        case damage
    }

    /// The reason why the client cannot evaluate the expression.
    package let reason: Reason

    /// Creates an error with a reason.
    package init(_ reason: Reason) { self.reason = reason }

    /// The reason why the client cannot evaluate the expression, in words.
    package var description: String {
        switch reason {
        case .operation(let name): "the client does not know \(name)"
        case .version: "the result depends on the server"
        case .collation: "the collection's collation decides"
        case .failure: "the server would refuse it"
        case .damage: "the document is damaged"
        }
    }
}
