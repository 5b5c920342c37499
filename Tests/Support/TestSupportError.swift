/// Why the test support could not do its part.
package struct TestSupportError: Error, CustomStringConvertible {
    /// The reason.
    package let description: String

    package init(_ description: String) { self.description = description }
}
