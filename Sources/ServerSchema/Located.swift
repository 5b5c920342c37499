/// A tree of values with their places in a file.
///
/// Members keep their order and may repeat.
package struct Located<Scalar: Sendable>: Sendable {
    /// The value.
    package var value: Value
    /// The place of the value's first byte; for a value from a server, a name that stands for a whole file.
    package var location: SourceLocation

    /// A value; containers keep the places of their contents.
    package enum Value: Sendable {
        case scalar(Scalar)
        case array([Located])
        case object([Member])
    }

    /// A name and its value in an object.
    package struct Member: Sendable {
        /// The name, with its escapes resolved.
        package var name: String
        /// The place of the name, or of its opening quote.
        package var nameLocation: SourceLocation
        /// The value.
        package var value: Located
    }

    /// The members of an object.
    package var members: [Member]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The elements of an array.
    package var elements: [Located]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    /// The value of the first member of that name; `nil` when there is none, or this is not an object.
    package subscript(name: String) -> Located? { members?.first { $0.name == name }?.value }
}
