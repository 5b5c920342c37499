/// A tree of values with the places where they stand.
///
/// Members keep their order and may repeat.
package struct Located<Scalar: Sendable>: Sendable {
    /// What stands there.
    package var value: Value
    /// Where its first byte is; a whole file, or what stands for one, when it came from a server.
    package var location: SourceLocation

    /// A value; containers keep the places of what they hold.
    package enum Value: Sendable {
        case scalar(Scalar)
        case array([Located])
        case object([Member])
    }

    /// A name and its value in an object.
    package struct Member: Sendable {
        /// The name, its escapes resolved.
        package var name: String
        /// Where the name, or its opening quote, is.
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

    /// The value of the first member of that name; `nil` when there is none, or this is no object.
    package subscript(name: String) -> Located? { members?.first { $0.name == name }?.value }
}
