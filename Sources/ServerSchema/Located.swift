/// A value from a file with its position, and the positions of all names and values inside it.
///
/// The members of an object keep their order, and a name may occur more than once.
package struct Located<Scalar: Sendable>: Sendable {
    /// The value.
    package var value: Value
    /// The position of the value's first byte.
    ///
    /// A value from a server has the name of its origin in place of a file's path.
    package var location: SourceLocation

    /// Creates a value at a position.
    package init(value: Value, location: SourceLocation) { (self.value, self.location) = (value, location) }

    /// A value: a scalar, an array or an object.
    ///
    /// Names and values inside it carry their positions.
    package enum Value: Sendable {
        case scalar(Scalar)
        case array([Located])
        case object([Member])
    }

    /// A name and its value in an object.
    package struct Member: Sendable {
        /// The name, with its escapes resolved.
        package var name: String
        /// The position of the name, or of its opening quotation mark.
        package var nameLocation: SourceLocation
        /// The value of the member.
        package var value: Located

        /// Creates a member from its parts.
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
