/// A value from a file with its position, and the positions of all names and values inside it.
///
/// The members of an object keep their order, and a name may occur more than once.
package struct Located<Scalar: Sendable>: Sendable {
    /// The value; the names and values inside it have positions of their own.
    package var value: Value
    /// The position of the value's first byte.
    ///
    /// For a value from a server, the location names the value's origin in place of a file.
    package var location: SourceLocation

    package init(value: Value, location: SourceLocation) { (self.value, self.location) = (value, location) }

    /// A value: a scalar, an array or an object.
    ///
    /// Each name and value inside an array or object has its own position.
    package enum Value: Sendable {
        case scalar(Scalar)
        case array([Located])
        case object([Member])
    }

    package struct Member: Sendable {
        /// The name of the member, with its escapes resolved.
        package var name: String
        /// The position of the name, or of its opening quotation mark.
        package var nameLocation: SourceLocation
        package var value: Located

        package init(name: String, nameLocation: SourceLocation, value: Located) {
            (self.name, self.nameLocation, self.value) = (name, nameLocation, value)
        }
    }

    /// The members of an object; `nil` for any other value.
    package var members: [Member]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The elements of an array; `nil` for any other value.
    package var elements: [Located]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    /// The value of the first member with this name; `nil` if there is no such member, or if this is not an object.
    package subscript(name: String) -> Located? { members?.first { $0.name == name }?.value }
}
