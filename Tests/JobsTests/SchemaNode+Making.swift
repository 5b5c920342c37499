import ServerSchema

extension SchemaNode {
    static let nowhere = SourceLocation(file: "schema.json", line: 1, column: 1)

    /// Returns the schema of a value with one of these types.
    static func of(_ types: SchemaType...) -> SchemaNode {
        var node = SchemaNode(location: nowhere)
        node.types = types
        return node
    }

    /// Returns the schema of an object with these fields; by default it also allows other fields.
    static func object(
        _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = [],
        further: AdditionalProperties = .allowed
    ) -> SchemaNode {
        var node = of(.object)
        node.hasProperties = true
        node.properties = properties.map { Property(name: $0.key, node: $0.value) }
        node.required = required
        node.additionalProperties = further
        return node
    }
}
