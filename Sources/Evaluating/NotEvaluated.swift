/// The client cannot tell what the server makes of a document: the server has to be asked.
package struct NotEvaluated: Error, Hashable, CustomStringConvertible {
    /// Why.
    package enum Reason: Hashable, Sendable {
        /// The expression uses an operator, an option or a variable of that name, which the client does not know.
        case operation(String)
        /// The result depends on the server's version, or on digits that the client does not reproduce.
        case version
        /// Texts are compared, and the collection has a collation.
        case collation
        /// The server would end the command with an error.
        case failure
        /// The document is damaged.
        case damage
    }

    package let reason: Reason

    package init(_ reason: Reason) { self.reason = reason }

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
