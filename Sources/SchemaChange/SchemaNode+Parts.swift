internal import BSON
import ServerSchema

/// A field that an object schema names.
struct Field {
    let name: String
    let node: SchemaNode
    let isRequired: Bool

    /// The default that clients see; null counts as no default.
    var defaultValue: BSONValue? { node.defaultValue == .null ? nil : node.defaultValue }
}

/// The parts of a schema that are compared one by one.
extension SchemaNode {
    /// The fields that `properties` names, then the fields of any type that only `required` names.
    var fields: [Field] {
        let named = properties.map { Field(name: $0.name, node: $0.node, isRequired: requires($0.name)) }
        let unnamed = required.filter { property($0) == nil }
        return named + unnamed.map { Field(name: $0, node: SchemaNode(location: location), isRequired: true) }
    }

    /// Whether objects that the schema admits are dictionaries, even if it admits other types too.
    var holdsValues: Bool {
        guard admits(.object), properties.isEmpty, hasAdditionalProperties else { return false }
        if case .forbidden = additionalProperties { return false }
        return true
    }

    /// The schemas of an array's elements: one for all, one for each position, or without `items` one that fits any
    /// value.
    var elements: [SchemaNode] {
        switch items {
        case .each(let node): [node]
        case .tuple(let nodes): nodes
        case nil: [SchemaNode(location: location)]
        }
    }

    /// Whether each position of an array has its own schema.
    var isTuple: Bool { if case .tuple = items { true } else { false } }

    /// The elements' types in words.
    var elementWords: String {
        let words = elements.map { $0.expectation() }
        return isTuple ? "[\(words.joined(separator: ", "))]" : words.joined()
    }

    /// The schema of a dictionary's values; `mixed`, as clients see it, if they may be anything.
    var values: SchemaNode {
        if case .schema(let node) = additionalProperties { return node }
        var node = SchemaNode(location: location)
        node.types = [.mixed]
        return node
    }

    /// Whether the schema admits a value of the given type.
    func admits(_ type: SchemaType) -> Bool { types.isEmpty || types.contains(type) }

    /// The types of the fields in words, by field name.
    var fieldWords: [String: String] {
        Dictionary(fields.map { ($0.name, $0.node.expectation()) }) { first, _ in first }
    }

    /// The title, unless it is empty.
    var typeName: String? { title.flatMap { $0.isEmpty ? nil : $0 } }
}
