package import ServerSchema

/// What is wrong with a file that the operator wrote, where, and how to mend it.
package struct LocatedError: Error, Hashable, Sendable {
    /// Where in the file; `nil` when the file itself could not be read.
    package let location: SourceLocation?
    /// What is wrong, and what would be right.
    package let message: String
    /// Whether the file is well formed, and asks for what can never work.
    package let isConfiguration: Bool

    /// Joins the two.
    package init(_ message: String, at location: SourceLocation? = nil, isConfiguration: Bool = false) {
        self.location = location
        self.message = message
        self.isConfiguration = isConfiguration
    }
}

extension LocatedError: CustomStringConvertible {
    /// `file:line:column: message`.
    package var description: String {
        location.map { "\($0.file):\($0.line):\($0.column): \(message)" } ?? message
    }
}
