package import BSON
import ServerSchema

/// A class of a client, as the server schema describes it, for any language.
package struct ObjectClass: Hashable, Sendable {
    /// The place where the objects of a class are stored.
    package enum Kind: String, Hashable, Sendable {
        /// The objects are documents of a collection.
        case object
        /// The objects are stored inside other objects.
        case embedded
        /// The objects are documents of a collection that clients only write to.
        case asymmetric
    }

    /// The name of the class on the client and the server: the title of the schema, or a generated name if it has none.
    package let name: String
    /// The place where the objects of the class are stored.
    package let kind: Kind
    /// The collection whose schema describes the class; for an embedded class, the first such collection.
    package let namespace: Namespace
    /// The class's properties, in the order of the schema.
    var fields: [Field] = []
    /// The fields that cannot be properties of the class, each with the reason, as a clause.
    package internal(set) var gaps: [String] = []

    struct Field: Hashable, Sendable {
        let name: String
        let type: FieldType
        let isPrimaryKey: Bool
    }
}

struct FieldType: Hashable, Sendable {
    /// The type of the value; in a list, set or dictionary, the type of its elements.
    enum Element: Hashable, Sendable {
        case scalar(Scalar)
        case mixed
        /// A link to an object of the class with this name, or an embedded object of the class.
        case object(String)
    }

    /// The type of a value that is neither an object nor a collection of values.
    enum Scalar: Hashable, Sendable {
        case bool, int, double, decimal, string, date, objectID, uuid, binary
    }

    /// The kind of a property with many values.
    enum Container: Hashable, Sendable {
        case list, set, dictionary
    }

    let element: Element
    /// Whether the value may be null; in a list, set or dictionary, whether its elements may be null.
    ///
    /// `false` for a mixed value, although it may always be null.
    let isOptional: Bool
    let container: Container?
}

extension FieldType.Scalar {
    /// Creates the client's scalar type for a type of a schema; `nil` if clients have no scalar type for it.
    init?(_ type: SchemaType) {
        switch type {
        case .bool: self = .bool
        // Clients store an `int` and a `long` as a 64-bit integer.
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
