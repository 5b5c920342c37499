/// An error of the test support, with its reason.
package struct TestSupportError: Error, CustomStringConvertible {
    /// The reason why the test support failed.
    package let description: String

    /// Makes an error with this reason.
    package init(_ description: String) { self.description = description }
}
