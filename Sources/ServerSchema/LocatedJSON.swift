/// A JSON value with the place where it stands.
///
/// Members keep their order and may repeat; numbers keep their text.
package struct LocatedJSON: Sendable {
    /// What stands there.
    package var value: Value
    /// Where its first byte is.
    package var location: SourceLocation

    /// A JSON value.
    package enum Value: Sendable {
        case null
        case bool(Bool)
        /// The number as the file spells it.
        case number(String)
        case string(String)
        case array([LocatedJSON])
        case object([Member])
    }

    /// A name and its value in an object.
    package struct Member: Sendable {
        /// The name, its escapes resolved.
        package var name: String
        /// Where the name's opening quote is.
        package var nameLocation: SourceLocation
        /// The value.
        package var value: LocatedJSON
    }
}

extension LocatedJSON {
    /// The kind of value, with its article, for messages.
    package var kind: String {
        switch value {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The text of a string.
    package var text: String? {
        if case .string(let text) = value { text } else { nil }
    }

    /// The elements of an array.
    package var elements: [LocatedJSON]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    /// The members of an object.
    package var members: [Member]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The value of the first member of that name; `nil` when there is none, or this is no object.
    package subscript(name: String) -> LocatedJSON? { members?.first { $0.name == name }?.value }
}
