package import BSON

/// A BSON value with the place where it stands, for readers that know BSON's types.
///
/// Members keep their order and may repeat.
package struct LocatedBSON: Sendable {
    /// What stands there.
    package var value: Value
    /// Where its first byte is; a whole file, or what stands for one, when it came from a server.
    package var location: SourceLocation

    /// A BSON value; containers keep the places of what they hold.
    package enum Value: Sendable {
        case scalar(BSONValue)
        case array([LocatedBSON])
        case object([Member])
    }

    /// A name and its value in an object.
    package struct Member: Sendable {
        /// The name.
        package var name: String
        /// Where the name is.
        package var nameLocation: SourceLocation
        /// The value.
        package var value: LocatedBSON
    }
}

extension LocatedBSON {
    /// A value that came from a server.
    /// - Parameter place: what errors and notes name, a collection's validator for instance.
    /// - Throws: ``BSONError`` when a nested document is damaged.
    package init(_ value: BSONValue, at place: SourceLocation) throws(BSONError) {
        location = place
        switch value {
        case .object(let document):
            var members: [Member] = []
            for (name, child) in try document.elements() {
                members.append(Member(name: name, nameLocation: place, value: try LocatedBSON(child, at: place)))
            }
            self.value = .object(members)
        case .array(let document):
            var elements: [LocatedBSON] = []
            for (_, child) in try document.elements() { elements.append(try LocatedBSON(child, at: place)) }
            self.value = .array(elements)
        default: self.value = .scalar(value)
        }
    }

    /// The value without its places.
    package var bson: BSONValue {
        switch value {
        case .scalar(let value): value
        case .array(let elements): .array(of: elements.map(\.bson))
        case .object(let members): .object(BSONDocument(members.map { ($0.name, $0.value.bson) }))
        }
    }

    /// The members of an object.
    package var members: [Member]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The elements of an array.
    package var elements: [LocatedBSON]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    /// The text of a string.
    package var text: String? {
        if case .scalar(.string(let text)) = value { text } else { nil }
    }

    /// The value's type, with its article, for messages.
    package var kind: String {
        switch value {
        case .array: "an array"
        case .object: "an object"
        case .scalar(.null): "null"
        case .scalar(.bool): "a boolean"
        case .scalar(.string): "a string"
        case .scalar(let value) where BSONNumber(value) != nil: "a number"
        case .scalar(let value): "a value of type \(value.type)"
        }
    }

    /// The value of the first member of that name; `nil` when there is none, or this is no object.
    package subscript(name: String) -> LocatedBSON? { members?.first { $0.name == name }?.value }
}
