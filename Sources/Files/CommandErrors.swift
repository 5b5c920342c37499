/// A wrong use of the command line that is found only when the command runs.
package struct UsageError: Error, CustomStringConvertible {
    /// The message: what is wrong, and what to do.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// An error for an input that cannot be used, such as a file or a folder.
package struct InputError: Error, CustomStringConvertible {
    /// The message: what is wrong, and what to do.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// An error for an output that cannot be written.
package struct OutputError: Error, CustomStringConvertible {
    /// The message: which output, and why.
    package let description: String

    package init(description: String) { self.description = description }
}

extension OutputError {
    package init(report path: String, _ reason: any Error) {
        self.init(description: "cannot write the report \(path): \(reason)")
    }
}
