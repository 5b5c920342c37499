internal import BSON
import ServerSchema

struct Field {
    let name: String
    let node: SchemaNode
    let isRequired: Bool

    /// The default that clients see; `nil` if there is none, or if it is null.
    var defaultValue: BSONValue? { node.defaultValue == .null ? nil : node.defaultValue }
}

/// The parts of a schema that are compared one by one.
extension SchemaNode {
    /// The fields in `properties`, followed by the fields that only `required` names.
    ///
    /// The latter may have any type.
    var fields: [Field] {
        let named = properties.map { Field(name: $0.name, node: $0.node, isRequired: requires($0.name)) }
        let unnamed = required.filter { property($0) == nil }
        return named + unnamed.map { Field(name: $0, node: SchemaNode(location: location), isRequired: true) }
    }

    /// Whether the objects that the schema allows are dictionaries; the schema may also allow other types.
    var holdsValues: Bool {
        guard admits(.object), properties.isEmpty, hasAdditionalProperties else { return false }
        if case .forbidden = additionalProperties { return false }
        return true
    }

    /// The schemas of an array's elements: one for all elements, or one for each position.
    ///
    /// Without `items`, the result is one schema that every value fits.
    var elements: [SchemaNode] {
        switch items {
        case .each(let node): [node]
        case .tuple(let nodes): nodes
        case nil: [SchemaNode(location: location)]
        }
    }

    /// Whether each position of an array has its own schema.
    var isTuple: Bool { if case .tuple = items { true } else { false } }

    var elementWords: String {
        let words = elements.map { $0.expectation() }
        return isTuple ? "[\(words.joined(separator: ", "))]" : words.joined()
    }

    /// The schema of a dictionary's values; if any value is allowed, a schema of type `mixed`.
    ///
    /// To clients, such values have the type `mixed`.
    var values: SchemaNode {
        if case .schema(let node) = additionalProperties { return node }
        var node = SchemaNode(location: location)
        node.types = [.mixed]
        return node
    }

    /// Whether the schema allows values of this type.
    func admits(_ type: SchemaType) -> Bool { types.isEmpty || types.contains(type) }

    var fieldWords: [String: String] {
        Dictionary(fields.map { ($0.name, $0.node.expectation()) }) { first, _ in first }
    }

    /// The schema that `items` states for all elements of an array; `nil` without `items`, or if `items` states a
    /// schema for each position.
    var inner: SchemaNode? { if case .each(let element) = items { element } else { nil } }

    /// The schema that `items` states for all elements of an array; if there is no such schema, this schema itself.
    var each: SchemaNode { inner ?? self }

    /// Whether the schema is for Prisma's type `BigInt`, or for lists of it; clients read no double as a `BigInt`.
    var refusesDoubles: Bool { each.scalar == .bigInt }

    /// The title; `nil` if there is none, or if it is empty.
    var typeName: String? { title.flatMap { $0.isEmpty ? nil : $0 } }
}
