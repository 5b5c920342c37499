/// The error for an expression that the client cannot evaluate for a document exactly as the server does.
package struct NotEvaluated: Error, Hashable {
    /// The reason why the client cannot evaluate the expression.
    package enum Reason: Hashable, Sendable {
        /// The expression uses an operator, option or variable of this name that the client does not know.
        case operation(String)
        /// The server's result is not certain, for instance because it depends on the server's version.
        case version
        /// The server ends the command with an error, or might do so.
        case failure
        case damage
    }

    package let reason: Reason

    package init(_ reason: Reason) { self.reason = reason }
}
