package import BSON
import ServerSchema

/// A class of a client, as the server schema describes it, independent of the language.
package struct ObjectClass: Hashable, Sendable {
    /// The way in which the objects of a class are stored.
    package enum Kind: String, Hashable, Sendable {
        /// The objects are stored in a collection of their own.
        case object
        /// The objects are stored inside other objects.
        case embedded
        /// The objects are stored in a collection that clients only write to.
        case asymmetric
    }

    /// The name that the client's class and the server share: the schema's title, or a substitute if it has none.
    package let name: String
    /// The way in which the class's objects are stored.
    package let kind: Kind
    /// The collection whose schema describes the class; for an embedded class, the first such collection.
    package let namespace: Namespace
    /// The class's properties, in the order of the schema.
    var fields: [Field] = []
    /// The fields that cannot be properties of the class, with the reasons, as clauses.
    package internal(set) var gaps: [String] = []

    /// A property of a class.
    struct Field: Hashable, Sendable {
        let name: String
        let type: FieldType
        let isPrimaryKey: Bool
    }
}

/// The type of a property.
struct FieldType: Hashable, Sendable {
    /// The type of the value, or of its elements.
    enum Element: Hashable, Sendable {
        case scalar(Scalar)
        case mixed
        /// An object of a class: a link, or an embedded object.
        case object(String)
    }

    /// A value without parts.
    enum Scalar: Hashable, Sendable {
        case bool, int, double, decimal, string, date, objectID, uuid, binary
    }

    /// A container that holds several elements.
    enum Container: Hashable, Sendable {
        case list, set, dictionary
    }

    let element: Element
    /// Whether the value, or an element, may be null; a mixed value includes null anyway.
    let isOptional: Bool
    let container: Container?
}

extension FieldType.Scalar {
    /// Creates the scalar for a schema's type; `nil` if clients have none.
    init?(_ type: SchemaType) {
        switch type {
        case .bool: self = .bool
        // Clients store both in 64 bits.
        case .int, .long: self = .int
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .objectId: self = .objectID
        case .uuid: self = .uuid
        case .binData: self = .binary
        default: return nil
        }
    }
}
