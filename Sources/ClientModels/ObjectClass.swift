package import BSON
import ServerSchema

/// A class of a client, as the server schema describes it, before any language.
package struct ObjectClass: Hashable, Sendable {
    /// How its objects are kept.
    package enum Kind: String, Hashable, Sendable {
        /// In a collection of its own.
        case object
        /// Inside another object.
        case embedded
        /// In a collection that clients only write to.
        case asymmetric
    }

    /// The schema's title: the name that the client's class and the server share.
    package let name: String
    /// How its objects are kept.
    package let kind: Kind
    /// The collection whose schema describes it; of an embedded class the first one that does.
    package let namespace: Namespace
    /// Its properties, in the schema's order.
    var fields: [Field] = []
    /// What a class cannot have, as clauses.
    package internal(set) var gaps: [String] = []

    /// A property.
    struct Field: Hashable, Sendable {
        let name: String
        let type: FieldType
        let isPrimaryKey: Bool
    }
}

/// The type of a property.
struct FieldType: Hashable, Sendable {
    /// What it holds, or what its elements are.
    enum Element: Hashable, Sendable {
        case scalar(Scalar)
        case mixed
        /// An object of a class: a link, or an embedded object.
        case object(String)
    }

    /// Values without parts.
    enum Scalar: Hashable, Sendable {
        case bool, int, double, decimal, string, date, objectID, uuid, binary
    }

    /// What holds several elements.
    enum Container: Hashable, Sendable {
        case list, set, dictionary
    }

    let element: Element
    /// Whether the value, or an element, may be null; a mixed value knows null itself.
    let isOptional: Bool
    let container: Container?
}

extension FieldType.Scalar {
    /// The scalar of a schema's type; `nil` where clients have none.
    init?(_ type: SchemaType) {
        switch type {
        case .bool: self = .bool
        // Clients hold both in 64 bits.
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
